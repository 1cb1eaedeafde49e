import type { Child } from 'hono/jsx';
import type { TowRecord } from '../../contracts/records';
import { FACT_ROLES, type TowRules } from '../../domain/fact-command';
import { releaseBlockers } from '../../domain/release-checklist';
import { waitingOf, type CallWaiting, type LastError, type ReportWaiting, type Waiting } from '../../domain/waiting';
import type { TransitionEvent } from '../../domain/tow';
import type { ViolationWaiting } from '../../domain/waiting-violation';
import { ROLES } from '../../domain/vocabulary';
import type { Viewer } from '../viewer';
import { Countdown } from './countdown';
import { Begun, Foldable } from './text';

/** Why a tow waits, as its record and the rules of a release say. */
export function waitingOfTow({ tow, reports, tasks, readAtMs }: TowRecord, rules: TowRules): Waiting {
  const blockers = releaseBlockers(tow, { reports, rules });
  return waitingOf({ state: tow.state, reports, tasks, blockers, nowMs: readAtMs });
}

/** Why a tow waits, in one sentence. `state`: of the tow, for what is over. */
export function WhyTow({ viewer, waiting, state }: { viewer: Viewer; waiting: Waiting; state: string }) {
  const { why } = viewer.words;
  if (waiting.kind === 'over') {
    return <Sentence viewer={viewer} main={why.over[state === 'released' || state === 'canceled' ? state : 'other']} />;
  }
  if (waiting.kind === 'people') {
    const { facts, blockers, taskIds } = waiting;
    const more = [
      ...blockers.map((blocker) => why.blockers[blocker]),
      ...(taskIds.length > 0 ? [why.peopleTasks(taskIds.length)] : []),
    ];
    const then = more.length > 0 ? more.join(why.separator) : null;
    return <Sentence viewer={viewer} main={nextWords(viewer, facts, state)} then={then} />;
  }
  return <WhyCall viewer={viewer} waiting={waiting} words={why.report(waiting.reportKind)} />;
}

/** Which facts come next: those the reader may say, else whose they are. */
function nextWords(viewer: Viewer, facts: readonly TransitionEvent[], state: string): string {
  const { why, terms } = viewer.words;
  const roleOf = (fact: TransitionEvent) => (fact === 'canceled' && state === 'detained' ? 'ops' : FACT_ROLES[fact]);
  const own = facts.filter((fact) => viewer.may(roleOf(fact)));
  if (own.length > 0 || facts.length === 0) return why.people(own);
  const role = ROLES.find((each) => facts.some((fact) => roleOf(fact) === each)) ?? 'ops';
  const theirs = facts.filter((fact) => roleOf(fact) === role);
  // Whoever may only read expects to say none of them.
  return viewer.may('crew') ? why.others(theirs, terms.roles[role]) : why.people(theirs);
}

/** Why one report of a tow waits. */
export function WhyReport({ viewer, waiting }: { viewer: Viewer; waiting: ReportWaiting }) {
  const { why } = viewer.words;
  if (waiting.kind === 'behind')
    return <Sentence viewer={viewer} main={why.behind(waiting.reportKind, waiting.headKind)} />;
  return <WhyCall viewer={viewer} waiting={waiting} words={why.report(waiting.reportKind)} />;
}

/** Why a violation waits. */
export function WhyViolation({ viewer, waiting }: { viewer: Viewer; waiting: ViolationWaiting }) {
  const { why } = viewer.words;
  switch (waiting.kind) {
    case 'over':
      return <Sentence viewer={viewer} main={why.over.violation} />;
    case 'held':
      return <Sentence viewer={viewer} main={why.held} because={waiting.because} />;
    case 'ticket':
      return (
        <Sentence
          viewer={viewer}
          main={why.ticket}
          because={waiting.because}
          then={<Until viewer={viewer} words={why.until.again} atMs={waiting.atMs} />}
        />
      );
    case 'images':
      return (
        <Sentence
          viewer={viewer}
          main={why.images}
          then={<Until viewer={viewer} words={why.until.next_try} atMs={waiting.atMs} />}
        />
      );
    case 'on_its_way':
    case 'turn':
    case 'next_try':
    case 'proof':
    case 'gate':
    case 'decision':
      return <WhyCall viewer={viewer} waiting={waiting} words={why.violation} />;
  }
}

type CallWords = Viewer['words']['why']['violation'];

function WhyCall({ viewer, waiting, words }: { viewer: Viewer; waiting: CallWaiting; words: CallWords }) {
  const { until, mayHaveWorked } = viewer.words.why;
  switch (waiting.kind) {
    case 'on_its_way':
      return <Sentence viewer={viewer} main={words.on_its_way} />;
    case 'turn':
      return <Sentence viewer={viewer} main={words.turn} />;
    case 'next_try':
      return (
        <Sentence
          viewer={viewer}
          main={waiting.attempts === 0 ? words.first_try : words.next_try(waiting.attempts)}
          because={waiting.because}
          then={<Until viewer={viewer} words={until.next_try} atMs={waiting.atMs} />}
        />
      );
    case 'proof':
      return (
        <Sentence
          viewer={viewer}
          main={words.proof}
          because={waiting.because}
          then={<Until viewer={viewer} words={until.proof} atMs={waiting.untilMs} />}
        />
      );
    case 'gate':
      return <Sentence viewer={viewer} main={gateWords(waiting, words)} />;
    case 'decision':
      return (
        <Sentence
          viewer={viewer}
          main={words[waiting.why]}
          because={waiting.because}
          then={waiting.hint === 'perhaps_already_accepted' ? mayHaveWorked : waiting.hint}
        />
      );
  }
}

function gateWords({ gate }: Extract<CallWaiting, { kind: 'gate' }>, words: CallWords): string {
  return gate.kind === 'paused' ? words.paused(gate.operation) : words[gate.kind];
}

function Until({ viewer, words, atMs }: { viewer: Viewer; words: string; atMs: number }) {
  return (
    <>
      {words} <Countdown viewer={viewer} atMs={atMs} />
    </>
  );
}

/** One sentence of up to three parts; what the service said stands in brackets, in its own words. */
function Sentence({
  viewer,
  main,
  because = null,
  then = null,
}: {
  viewer: Viewer;
  main: string;
  because?: LastError | null;
  then?: Child;
}) {
  return (
    <>
      {main}
      {because !== null && (
        <>
          {' '}
          (<LastWords error={because} />)
        </>
      )}
      {then !== null && (
        <>
          {viewer.words.why.separator}
          {then}
        </>
      )}
      .
    </>
  );
}

/** `HTTP 503: Internal Server Error`, as the service, or the wire, put it; of many words the first. */
export function LastWords({ error }: { error: LastError }) {
  return <Begun>{lastWordsOf(error)}</Begun>;
}

/** The same with all its words, many of them folded in. Never within a paragraph. */
export function AllLastWords({ error }: { error: LastError }) {
  return <Foldable>{lastWordsOf(error)}</Foldable>;
}

function lastWordsOf(error: LastError): string {
  const status = error.http_status === null ? null : `HTTP ${error.http_status}`;
  const isBare = error.message === '' || error.message === status;
  return status === null ? error.message : isBare ? status : `${status}: ${error.message}`;
}
