import type { Attempt } from '../../contracts/records';
import type { Viewer } from '../viewer';
import { Badge, Begun, Foldable, Moment, type Tone } from './text';

/** Equal ones in a row. */
export interface Run<T> {
  readonly first: T;
  readonly last: T;
  readonly count: number;
  /** The place of the first one, counted from 0. */
  readonly at: number;
}

/** Folds neighbours of the same key into one. */
export function runsOf<T>(items: readonly T[], keyOf: (item: T) => string): Run<T>[] {
  const runs: Run<T>[] = [];
  for (const [at, item] of items.entries()) {
    const run = runs.at(-1);
    if (run && keyOf(run.last) === keyOf(item)) runs[runs.length - 1] = { ...run, last: item, count: run.count + 1 };
    else runs.push({ first: item, last: item, count: 1, at });
  }
  return runs;
}

/** What makes two tries equal: what came of them. */
export function attemptKey({ outcome, http_status, message }: Attempt): string {
  return JSON.stringify([outcome, http_status ?? null, message ?? null]);
}

/** When a try began; of one that was cut off, when that was seen. Null when its record says neither. */
export function attemptMs({ started_at, ended_at_ms }: Attempt): number | null {
  const started = started_at === undefined ? Number.NaN : Date.parse(started_at);
  return Number.isNaN(started) ? (ended_at_ms ?? null) : started;
}

/** Every try of a call that is kept, equal ones in a row folded into one. `count`: how many there were. */
export function Attempts({ viewer, log, count }: { viewer: Viewer; log: readonly Attempt[]; count: number }) {
  const words = viewer.words.attempts;
  if (log.length === 0) return <p class="muted">{words.none}</p>;
  const isCut = count > log.length;
  return (
    <>
      {isCut && <p class="muted">{words.kept(log.length, count)}</p>}
      <ol class="attempts">
        {runsOf(log, attemptKey).map((run) => (
          <li>
            <AttemptRow viewer={viewer} run={run} />
          </li>
        ))}
      </ol>
    </>
  );
}

function AttemptRow({ viewer, run }: { viewer: Viewer; run: Run<Attempt> }) {
  const words = viewer.words.attempts;
  const { first, last, count } = run;
  const [from, to] = [attemptMs(first), attemptMs(last)];
  return (
    <>
      <span class="attempt-when">
        {from !== null && <Moment viewer={viewer} at={new Date(from).toISOString()} withDate={count > 1} />}
        {count > 1 && to !== null && (
          <>
            {' – '}
            <Moment viewer={viewer} at={new Date(to).toISOString()} />
          </>
        )}
      </span>{' '}
      <AttemptBadge viewer={viewer} attempt={first} /> <Foldable>{answerOf(viewer, first)}</Foldable>
      {count > 1 && <span class="muted"> · {words.times(count)}</span>}
      {count === 1 && first.duration_ms !== undefined && (
        <span class="muted">
          {' · '}
          <bdi>{words.lasted(viewer.formats.number(first.duration_ms))}</bdi>
        </span>
      )}
    </>
  );
}

/** What came of a try, in one word. */
export function AttemptBadge({ viewer, attempt }: { viewer: Viewer; attempt: Attempt }) {
  return (
    <Badge tone={toneOf(attempt.outcome)}>{viewer.words.attempts.outcomes[attempt.outcome] ?? attempt.outcome}</Badge>
  );
}

/** The status and the words of the answer, of many the first; or that there was none. */
export function AttemptAnswer({ viewer, attempt }: { viewer: Viewer; attempt: Attempt }) {
  return <Begun>{answerOf(viewer, attempt)}</Begun>;
}

function answerOf(viewer: Viewer, attempt: Attempt): string {
  const { http_status: status = null, message = null } = attempt;
  const isSaidAlready = message === null || message === attempt.outcome || message === `HTTP ${status}`;
  const head = status === null ? viewer.words.attempts.noStatus : `HTTP ${status}`;
  return isSaidAlready ? head : `${head}: ${message}`;
}

function toneOf(outcome: string): Tone {
  switch (outcome) {
    case 'accepted':
      return 'good';
    case 'refused':
    case 'unknown':
    case 'worker_lost':
      return 'bad';
    case 'retry':
      return 'wait';
    default:
      return 'quiet';
  }
}
