import type { Child } from 'hono/jsx';
import type { TowRecord } from '../../contracts/records';
import { waitingOf, type CallWaiting, type LastError, type ReportWaiting, type Waiting } from '../../domain/waiting';
import type { ViolationWaiting } from '../../domain/waiting-violation';
import type { Viewer } from '../viewer';
import { Countdown } from './countdown';
import { Written } from './text';

/** Why a tow waits, as its record says. */
export function waitingOfTow({ tow, reports, tasks, readAtMs }: TowRecord): Waiting {
  return waitingOf({ state: tow.state, reports, tasks, nowMs: readAtMs });
}

/** Why a tow waits, in one sentence. `state`: of the tow, for what is over. */
export function WhyTow({ viewer, waiting, state }: { viewer: Viewer; waiting: Waiting; state: string }) {
  const { why } = viewer.words;
  if (waiting.kind === 'over') {
    return <Sentence viewer={viewer} main={why.over[state === 'released' || state === 'canceled' ? state : 'other']} />;
  }
  if (waiting.kind === 'people') {
    const { facts, taskIds } = waiting;
    return (
      <Sentence
        viewer={viewer}
        main={why.people(facts)}
        then={taskIds.length > 0 ? why.peopleTasks(taskIds.length) : null}
      />
    );
  }
  return <WhyCall viewer={viewer} waiting={waiting} words={why.report(waiting.reportKind)} />;
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

/** `HTTP 503: Internal Server Error`, as the service, or the wire, put it. */
export function LastWords({ error }: { error: LastError }) {
  const status = error.http_status === null ? null : `HTTP ${error.http_status}`;
  const isBare = error.message === '' || error.message === status;
  return <Written>{status === null ? error.message : isBare ? status : `${status}: ${error.message}`}</Written>;
}
