import type { Child } from 'hono/jsx';
import type { ReportView, TowNow } from '../../contracts/operator';
import type { ViolationView } from '../../contracts/violation/violations';
import { FACTS } from '../../domain/tow/facts';
import { releaseBlockers } from '../../domain/tow/release-checklist';
import {
  awaitsRelease,
  waitingOf,
  type CallWaiting,
  type QueuePlace,
  type ReportWaiting,
  type SendingBlock,
  type Waiting,
} from '../../domain/outbox/waiting';
import type { EntryError } from '../../domain/outbox/entry';
import type { TransitionEvent } from '../../domain/tow/tow';
import type { ViolationWaiting } from '../../domain/outbox/waiting';
import { ROLES, STOPPED, type ReportKind } from '../../domain/vocabulary';
import { formatted } from '../messages';
import type { Viewer } from '../viewer';
import { ErrorText } from './error-text';
import { Countdown } from './text';

/** A call of the API as the rules of waiting take it. */
export function callOf(view: ReportView | ViolationView) {
  const { attempts, last_error: error, hint, waits_for: waitsFor, place_in_queue: place } = view;
  return {
    attempts,
    error,
    hint,
    waitsFor,
    attemptId: view.in_flight ? view.id : null,
    nextAtMs: msOf(view.next_attempt_at),
    queue: place && {
      place: place.place,
      of: place.of,
      leavesAtMs: Date.parse(place.leaves_at),
      closedUntilMs: msOf(place.closed_until),
    },
  };
}

function msOf(iso: string | null): number | null {
  return iso === null ? null : Date.parse(iso);
}

/** A report of the API as the rules of waiting take it. */
export function reportCallOf(report: ReportView) {
  return { ...callOf(report), id: report.id, kind: report.kind, state: report.state };
}

/** Why a tow waits. */
export function waitingOfTow({ state, reports, tasks, release }: TowNow, nowMs: number): Waiting {
  return waitingOf({ state, reports: reports.map(reportCallOf), tasks, blockers: releaseBlockers(release), nowMs });
}

/** Why a tow waits, in one sentence. */
export function WhyTow({ viewer, waiting, state }: { viewer: Viewer; waiting: Waiting; state: string }) {
  const { why } = viewer.messages;
  if (waiting.kind === 'over') {
    return <Sentence viewer={viewer} main={why.over[state === 'released' || state === 'canceled' ? state : 'other']} />;
  }
  if (waiting.kind === 'people') {
    const { taskIds } = waiting;
    const blockers = waiting.blockers.map((blocker) => why.blockers[blocker]);
    const next = nextText(viewer, waiting, state);
    const tasks = taskIds.length > 0 ? [why.peopleTasks({ count: taskIds.length })] : [];
    const parts = awaitsRelease(waiting) ? [why.accepted, ...blockers, next] : [next, ...blockers];
    return <Sentence viewer={viewer} main={[...parts, ...tasks].join(why.separator)} />;
  }
  return <WhyCall viewer={viewer} waiting={waiting} kind={waiting.reportKind} />;
}

/** Which facts come next, or are possible before a release: those that the reader may record, or else the role that may. */
function nextText(viewer: Viewer, waiting: Waiting & { kind: 'people' }, state: string): string {
  const { why, terms } = viewer.messages;
  const { facts } = waiting;
  const roleOf = (fact: TransitionEvent) => (fact === 'canceled' && state === 'detained' ? 'ops' : FACTS[fact].role);
  const namesOf = (some: typeof facts) => viewer.formats.either(some.map((fact) => terms.operations[fact]));
  const own = facts.filter((fact) => viewer.may(roleOf(fact)));
  if (facts.length === 0) return why.peopleOnly;
  const [people, others] = nextTexts(viewer, waiting, state);
  if (own.length > 0) return people({ facts: namesOf(own) });
  const role = ROLES.find((each) => facts.some((fact) => roleOf(fact) === each)) ?? 'ops';
  const theirs = namesOf(facts.filter((fact) => roleOf(fact) === role));
  // A viewer records no facts, so the role is of no interest.
  return viewer.may('crew') ? others({ facts: theirs, role: terms.roles[role] }) : people({ facts: theirs });
}

function nextTexts({ messages: { why } }: Viewer, waiting: Waiting & { kind: 'people' }, state: string) {
  if (awaitsRelease(waiting)) return [why.possible, why.possibleOthers] as const;
  // Before its first fact a tow has no reports.
  return state === 'requested' ? ([why.firstPeople, why.firstOthers] as const) : ([why.people, why.others] as const);
}

export function WhyReport({ viewer, waiting }: { viewer: Viewer; waiting: ReportWaiting }) {
  const { why, terms } = viewer.messages;
  if (waiting.kind !== 'behind') return <WhyCall viewer={viewer} waiting={waiting} kind={waiting.reportKind} />;
  const [report, head] = [terms.operations[waiting.reportKind], terms.operations[waiting.headKind]];
  return <Sentence viewer={viewer} main={why.behind({ report, head })} />;
}

export function WhyViolation({ viewer, waiting }: { viewer: Viewer; waiting: ViolationWaiting }) {
  const { why } = viewer.messages;
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
          then={<Countdown viewer={viewer} atMs={waiting.atMs} sentence={why.until.again} />}
        />
      );
    case 'images':
      return (
        <Sentence
          viewer={viewer}
          main={why.images}
          then={<Countdown viewer={viewer} atMs={waiting.atMs} sentence={why.until.next_try} />}
        />
      );
    case 'on_its_way':
    case 'turn':
    case 'next_try':
    case 'proof':
    case 'blocked':
    case 'decision':
      return <WhyCall viewer={viewer} waiting={waiting} kind={null} />;
  }
}

/** Why a call waits. `kind`: of the report; null for a violation. */
function WhyCall({ viewer, waiting, kind }: { viewer: Viewer; waiting: CallWaiting; kind: ReportKind | null }) {
  const { until, mayHaveWorked } = viewer.messages.why;
  const main = mainClause(viewer, waiting, kind);
  switch (waiting.kind) {
    case 'on_its_way':
    case 'turn':
      return <Sentence viewer={viewer} main={main} />;
    case 'blocked':
      return (
        <Sentence
          viewer={viewer}
          main={main}
          then={waiting.queue ? <InQueue viewer={viewer} queue={waiting.queue} /> : null}
        />
      );
    case 'next_try':
      return (
        <Sentence
          viewer={viewer}
          main={main}
          because={waiting.because}
          then={<Countdown viewer={viewer} atMs={waiting.atMs} sentence={until.next_try} />}
        />
      );
    case 'proof':
      return (
        <Sentence
          viewer={viewer}
          main={main}
          because={waiting.because}
          then={<Countdown viewer={viewer} atMs={waiting.untilMs} sentence={until.proof} />}
        />
      );
    case 'decision':
      return (
        <Sentence
          viewer={viewer}
          main={main}
          because={waiting.because}
          then={waiting.hint === 'perhaps_already_accepted' ? mayHaveWorked : (waiting.hint?.toString() ?? null)}
        />
      );
  }
}

function mainClause(viewer: Viewer, waiting: CallWaiting, kind: ReportKind | null): string {
  const { why, terms } = viewer.messages;
  const key = clauseOf(viewer, waiting);
  const attempts = waiting.kind === 'next_try' ? waiting.attempts : 0;
  const operation =
    waiting.kind === 'blocked' && waiting.by.kind === 'paused' ? terms.operations[waiting.by.operation] : '';
  if (kind === null) return formatted(why.violation[key], { attempts, operation });
  return why.report[key]({ report: terms.operations[kind], attempts, operation });
}

/**
 * The name of what blocks a call. While nothing is sent, all calls wait for that; later a withheld record waits for a
 * decision of ops.
 */
export function blockName({ status }: Viewer, { kind }: SendingBlock) {
  return kind === STOPPED && status !== null && status.mode.state !== 'live' ? 'stopped' : kind;
}

function clauseOf(viewer: Viewer, waiting: CallWaiting): keyof Viewer['messages']['why']['violation'] {
  switch (waiting.kind) {
    case 'on_its_way':
    case 'turn':
    case 'proof':
      return waiting.kind;
    case 'next_try':
      return waiting.attempts === 0 ? 'first_try' : 'next_try';
    case 'blocked':
      return blockName(viewer, waiting.by);
    case 'decision':
      return waiting.why;
  }
}

/** The place in the queue of the rate limit, the time until it is sent, and for how long the service asked to wait. */
function InQueue({ viewer, queue }: { viewer: Viewer; queue: QueuePlace }) {
  const { messages, formats } = viewer;
  const { place, of, leavesAtMs, closedUntilMs } = queue;
  return (
    <>
      {closedUntilMs !== null && messages.why.queue.closed({ time: timeText(viewer, closedUntilMs) })}
      {closedUntilMs !== null && messages.why.separator}
      {messages.why.queue.place({ place: formats.number(place), of: formats.number(of) })}
      {messages.why.separator}
      <Countdown viewer={viewer} atMs={leavesAtMs} sentence={messages.why.queue.sent} />
    </>
  );
}

function timeText({ formats }: Viewer, atMs: number): string {
  return formats.timestamp(new Date(atMs).toISOString());
}

/** One sentence of up to three parts, with the message of the service in brackets. */
function Sentence({
  viewer,
  main,
  because = null,
  then = null,
}: {
  viewer: Viewer;
  main: string;
  because?: EntryError | null;
  then?: Child;
}) {
  return (
    <>
      {main}
      {because !== null && (
        <>
          {' '}
          (<ErrorText viewer={viewer} error={because} />)
        </>
      )}
      {then !== null && (
        <>
          {viewer.messages.why.separator}
          {then}
        </>
      )}
      .
    </>
  );
}
