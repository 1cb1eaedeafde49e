import { contractNames } from '../../contracts/service/contract-fields';
import type { OperationName } from '../../contracts/service/operations';
import { type DifferenceSource, fieldsOf, type SeenDifference } from '../../domain/service/difference';
import { latencyStep } from '../../domain/ops/metric-names';
import type { SeenService } from '../../domain/service/seen-service';
import type { DeliveryKind } from '../../domain/vocabulary';
import { jsonIn, withoutByteOrderMark } from '../../domain/json';

/** What a process sees of the service between two flushes: shapes of messages, statuses and latencies of calls. */
export interface ServiceObserver {
  /** A call that was made. `httpStatus` is null without an answer; `body` is looked at only after a 2xx. */
  called(call: {
    readonly operation: OperationName;
    readonly httpStatus: number | null;
    readonly durationMs: number;
    readonly body: string | null;
  }): void;
  /** `count` answers that differ. Those to reports and violations are counted by the commits that settle them. */
  differed(seen: SeenDifference, count?: number): void;
  /** A webhook, at most once, however often it is processed. */
  received(kind: DeliveryKind, body: string): void;
  /** Returns all observations and forgets them; null without any. */
  take(): SeenService | null;
  /** The same for one kind of difference of answers, with the number of its answers. */
  takeDifference(): CountedDifference | null;
}

export interface CountedDifference {
  readonly seen: SeenDifference;
  readonly count: number;
}

/** Messages of one kind that are looked at between two flushes. */
const SAMPLES_MAX = 50;
const BODY_LENGTH_MAX = 65_536;
const NO_ANSWER = 'none';

export function createServiceObserver(): ServiceObserver {
  let seen: SeenService = { messages: {}, calls: {} };
  const differences = new Map<string, CountedDifference>();
  const sample = (source: DifferenceSource, name: string, body: string) => {
    const message = (seen.messages[`${source}.${name}`] ??= { samples: 0, fields: {} });
    if (message.samples >= SAMPLES_MAX || body.length > BODY_LENGTH_MAX) return;
    const value = jsonIn(withoutByteOrderMark(body));
    if (value === undefined) return;
    message.samples += 1;
    for (const { field, type } of fieldsOf(value, contractNames(source, name))) {
      const key = `${field} ${type}`;
      message.fields[key] = (message.fields[key] ?? 0) + 1;
    }
  };
  return {
    called({ operation, httpStatus, durationMs, body }) {
      const calls = (seen.calls[operation] ??= { statuses: {}, steps: {} });
      add(calls.statuses, httpStatus === null ? NO_ANSWER : String(httpStatus));
      add(calls.steps, String(latencyStep(durationMs)));
      if (httpStatus !== null && httpStatus >= 200 && httpStatus < 300 && body) sample('answer', operation, body);
    },
    differed(difference, count = 1) {
      const before = differences.get(difference.id)?.count ?? 0;
      differences.set(difference.id, { seen: difference, count: before + count });
    },
    received: (kind, body) => sample('webhook', kind, body),
    take() {
      const taken = seen;
      if (Object.keys(taken.messages).length === 0 && Object.keys(taken.calls).length === 0) return null;
      seen = { messages: {}, calls: {} };
      return taken;
    },
    takeDifference() {
      const [taken = null] = differences.values();
      if (taken !== null) differences.delete(taken.seen.id);
      return taken;
    },
  };
}

function add(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
