import type { ReportView } from '../../contracts/operator';
import type { LoggedOutcome } from '../../domain/outbox/entry';
import { valueUnder } from '../messages';
import type { Viewer } from '../viewer';
import { causeOf } from './error-text';
import { Badge, Truncated, Foldable, Timestamp, type Tone } from './text';

/** An attempt of a call. */
export type Attempt = ReportView['log'][number];

/** A run of equal neighbours. */
export interface Repeated<T> {
  readonly first: T;
  readonly last: T;
  readonly count: number;
  /** The index of the first one. */
  readonly at: number;
}

/** Groups neighbours with the same key. */
export function groupRepeated<T>(items: readonly T[], keyOf: (item: T) => string): Repeated<T>[] {
  const runs: Repeated<T>[] = [];
  for (const [at, item] of items.entries()) {
    const run = runs.at(-1);
    if (run && keyOf(run.last) === keyOf(item)) runs[runs.length - 1] = { ...run, last: item, count: run.count + 1 };
    else runs.push({ first: item, last: item, count: 1, at });
  }
  return runs;
}

/** Attempts with the same result have the same key. */
export function attemptKey({ outcome, http_status, message }: Attempt): string {
  return JSON.stringify([outcome, http_status ?? null, message ?? null]);
}

/** The start of an attempt; for an interrupted one the time it was noticed. Null if unknown. */
export function attemptMs({ started_at, ended_at_ms }: Attempt): number | null {
  const started = started_at === undefined ? Number.NaN : Date.parse(started_at);
  return Number.isNaN(started) ? (ended_at_ms ?? null) : started;
}

/** The kept attempts of a call, with equal neighbours grouped. `count`: all attempts. */
export function Attempts({ viewer, log, count }: { viewer: Viewer; log: readonly Attempt[]; count: number }) {
  const messages = viewer.messages.attempts;
  if (log.length === 0) return <p class="muted">{messages.none}</p>;
  const isCut = count > log.length;
  return (
    <>
      {isCut && <p class="muted">{messages.kept({ kept: log.length, all: count })}</p>}
      <ol class="attempts">
        {groupRepeated(log, attemptKey).map((run) => (
          <li>
            <AttemptRow viewer={viewer} run={run} />
          </li>
        ))}
      </ol>
    </>
  );
}

function AttemptRow({ viewer, run }: { viewer: Viewer; run: Repeated<Attempt> }) {
  const messages = viewer.messages.attempts;
  const { first, last, count } = run;
  const [from, to] = [attemptMs(first), attemptMs(last)];
  return (
    <>
      <span class="attempt-when">
        {from !== null && <Timestamp viewer={viewer} at={new Date(from).toISOString()} withDate={count > 1} />}
        {count > 1 && to !== null && (
          <>
            {' – '}
            <Timestamp viewer={viewer} at={new Date(to).toISOString()} />
          </>
        )}
      </span>{' '}
      <AttemptBadge viewer={viewer} attempt={first} /> <Foldable>{answerOf(viewer, first)}</Foldable>
      <CauseCode viewer={viewer} attempt={first} />
      {count > 1 && <span class="muted"> · {messages.times({ count })}</span>}
      {count === 1 && <AttemptDuration viewer={viewer} attempt={first} />}
    </>
  );
}

/** How long an attempt took, after a dot; nothing if that is unknown. */
export function AttemptDuration({ viewer, attempt: { duration_ms: ms } }: { viewer: Viewer; attempt: Attempt }) {
  if (ms === undefined) return null;
  return (
    <span class="muted">
      {' · '}
      <bdi>{viewer.messages.attempts.lasted({ ms: viewer.formats.number(ms) })}</bdi>
    </span>
  );
}

const TONES: Readonly<Record<LoggedOutcome, Tone>> = {
  accepted: 'good',
  retry: 'wait',
  refused: 'bad',
  unknown: 'bad',
  worker_lost: 'bad',
};

/** The result of an attempt as a badge. */
export function AttemptBadge({ viewer, attempt }: { viewer: Viewer; attempt: Attempt }) {
  const { outcome } = attempt;
  return (
    <Badge tone={valueUnder(TONES, outcome) ?? 'quiet'}>
      {valueUnder(viewer.messages.attempts.outcomes, outcome) ?? outcome}
    </Badge>
  );
}

/** The status and message of the response, shortened, or that there was none. */
export function AttemptAnswer({ viewer, attempt }: { viewer: Viewer; attempt: Attempt }) {
  return <Truncated>{answerOf(viewer, attempt)}</Truncated>;
}

/** The code of a cause, for those who search the log for it. */
function CauseCode({ viewer, attempt: { http_status: status = null, message } }: { viewer: Viewer; attempt: Attempt }) {
  const cause = causeOf(viewer.messages, { http_status: status, message: message ?? '' });
  return (
    cause && (
      <span class="muted">
        {' '}
        (<Truncated>{cause.code}</Truncated>)
      </span>
    )
  );
}

function answerOf(viewer: Viewer, attempt: Attempt): string {
  const { http_status: status = null, message = null } = attempt;
  const isSaidAlready = message === null || message === attempt.outcome || message === `HTTP ${status}`;
  const cause = causeOf(viewer.messages, { http_status: status, message: message ?? '' });
  const head = status === null ? viewer.messages.attempts.noStatus : `HTTP ${status}`;
  if (cause !== null && !isSaidAlready) return status === null ? cause.text : `${head}: ${cause.text}`;
  return isSaidAlready ? head : `${head}: ${message}`;
}
