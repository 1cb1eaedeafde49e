import type { Redis } from 'ioredis';
import { readCursor, writeCursor } from '../../contracts/paging';
import {
  runFields,
  runResult,
  runTargets,
  type RunItemView,
  type RunResult,
  type RunTarget,
} from '../../contracts/ops/runs';
import { general } from '../../domain/ops/changes';
import { jsonText } from '../../domain/stored';
import { DAY_MS } from '../../domain/timestamp';
import { done, refused, transactOnce } from '../../workflow/action-result';
import type { RunStore, StoredRun } from '../../workflow/run/run-port';
import { NO_SUCH_RUN, outcomeAt, PREVIEW_MS, RUN_MS, runViewOf, undecidedIn } from '../../workflow/run/runs';
import type { Effect } from '../redis/commit';
import { KEYS, runKey } from '../keys';
import { texts } from '../redis/parse';
import { unlessUnusable } from '../outbox/readable-records';
import { recordsOf } from '../outbox/records';
import { wellFormedJson } from '../scripts';
import type { RecordTransaction } from '../redis/transaction';

/**
 * Runs in Redis. A run is one hash, which expires: `document`, `state`, `started_by`, times, the number of items with each
 * result, `items:<n>` the nth hundred of its items, and `<position>` the result of an item. So the commit of an item's
 * effect stores its result too, unless the run was aborted.
 */

/** Items per field. */
const CHUNK = 100;
/** Another worker continues a run whose worker has not asked for more for this long. */
const TAKE_OVER_MS = 15_000;
/** Arguments per Redis command: Lua unpacks them on its stack, which is limited. */
const ARGUMENTS_MAX = 1000;

/** The fields that every read of a run needs. */
const HEAD = Object.keys(runFields.shape);
const targetsText = jsonText(runTargets);
const resultText = jsonText(runResult);

const itemsField = (position: number) => `items:${Math.floor(position / CHUNK)}`;

export function createRunStore(redis: Redis): RunStore {
  const records = recordsOf(redis);
  const read = async (id: string) => headIn(await redis.hmget(runKey(id), ...HEAD));
  const resultsAt = async (id: string, positions: readonly number[]) => {
    if (positions.length === 0) return [];
    const jsons = await redis.hmget(runKey(id), ...positions.map(String));
    return jsons.map((json) => (json === null ? null : resultText.parse(json)));
  };
  const targetsAt = async (id: string, positions: readonly number[]) => {
    const fields = [...new Set(positions.map(itemsField))];
    const jsons = fields.length === 0 ? [] : await redis.hmget(runKey(id), ...fields);
    const chunks = new Map(fields.map((field, at) => [field, targetsText.parse(jsons[at] ?? '[]')]));
    return positions.flatMap((position) => {
      const target = chunks.get(itemsField(position))?.[position % CHUNK];
      return target ? [{ position, target }] : [];
    });
  };
  return {
    create: (document, chosen, idempotency) =>
      transactOnce(records, { orderKey: runKey(document.id), idempotency }, (transaction: RecordTransaction) => {
        const key = runKey(document.id);
        const { nowMs } = transaction;
        const results = chosen.map(({ result }) => result);
        const counts = countsOf(results);
        const run: StoredRun = { ...newRun, document, counts, previewedAtMs: nowMs };
        const chunks = Array.from({ length: Math.ceil(chosen.length / CHUNK) }, (_, at) =>
          chosen.slice(at * CHUNK, (at + 1) * CHUNK).map(({ target }) => target),
        );
        transaction.check({ key, field: 'state', value: '' });
        transaction.effect(
          ['HSET', key, 'document', wellFormedJson(document), 'state', 'previewed', 'previewed_at', nowMs],
          ['HSET', key, ...Object.entries(counts).flat()],
          ...fieldEffects(key, [
            ...chunks.flatMap((targets, at) => [itemsField(at * CHUNK), wellFormedJson(targets)]),
            ...results.flatMap((result, at) => (result === null ? [] : [String(at), wellFormedJson(result)])),
          ]),
          ['EXPIRE', key, PREVIEW_MS / 1000],
          ['ZADD', KEYS.runs, nowMs, document.id],
          ['ZREMRANGEBYSCORE', KEYS.runs, '-inf', nowMs - 2 * DAY_MS],
          ['EXPIRE', KEYS.runs, (2 * DAY_MS) / 1000],
        );
        return Promise.resolve(done(runViewOf(run)));
      }),

    change: (id, idempotency, decide) =>
      transactOnce(records, { orderKey: runKey(id), idempotency }, async (transaction: RecordTransaction) => {
        const key = runKey(id);
        const run = await read(id);
        if (!run) return refused(NO_SUCH_RUN);
        const decision = decide(run);
        if (!decision.ok) return refused(decision.refusal);
        const { nowMs } = transaction;
        const { state, startedBy = run.startedBy, audit } = decision.change;
        transaction.check({ key, field: 'state', value: run.state });
        transaction.effect(['HSET', key, 'state', state]);
        const times = state === 'running' ? { startedAtMs: nowMs } : { endedAtMs: nowMs };
        if (state === 'running') {
          transaction.effect(
            ['HSET', key, 'started_at', nowMs, 'started_by', wellFormedJson(startedBy)],
            ['EXPIRE', key, RUN_MS / 1000],
            ['ZADD', KEYS.dueRuns, nowMs, id],
          );
        } else {
          transaction.effect(['HSET', key, 'ended_at', nowMs], ['ZREM', KEYS.dueRuns, id]);
        }
        transaction.audit(audit);
        transaction.addChange(general('run.changed'));
        return done(runViewOf({ ...run, state, startedBy, ...times }));
      }),

    read,

    async recent(limit) {
      const ids = await redis.zrevrange(KEYS.runs, 0, limit - 1);
      const found = await Promise.all(ids.map((id) => unlessUnusable(read(id))));
      return found.filter((run) => run !== null);
    },

    async items(id, { outcome, cursor, limit }) {
      const run = await read(id);
      if (!run) return null;
      const from = cursor === null ? 0 : (readCursor(cursor)?.score ?? 0) + 1;
      const rest = Array.from({ length: Math.max(0, run.document.total - from) }, (_, at) => from + at);
      const looked = outcome === null ? rest.slice(0, limit + 1) : rest;
      const results = await resultsAt(id, looked);
      const found = looked
        .map((position, at) => ({ position, result: results[at] ?? null }))
        .filter(({ result }) => outcome === null || outcomeAt(run, result) === outcome);
      const shown = found.slice(0, limit);
      const targets = await targetsAt(
        id,
        shown.map(({ position }) => position),
      );
      const last = shown.at(-1);
      return {
        items: targets.map(({ position, target }, at) => itemOf(run, { position, target }, shown[at]?.result ?? null)),
        nextCursor: last && found.length > limit ? writeCursor({ score: last.position, member: '' }) : null,
      };
    },

    take: (id) =>
      records.transact(runKey(id), async (transaction) => {
        const run = await read(id);
        transaction.check({ key: runKey(id), field: 'state', value: run?.state ?? '' });
        if (run?.state !== 'running') {
          transaction.effect(['ZREM', KEYS.dueRuns, id]);
          return null;
        }
        transaction.effect(['ZADD', KEYS.dueRuns, transaction.nowMs + TAKE_OVER_MS, id]);
        const decided = new Set(texts(await redis.hkeys(runKey(id)), 'fields of a run'));
        const all = Array.from({ length: run.document.total }, (_, position) => position);
        return { run, undecided: all.filter((position) => !decided.has(String(position))) };
      }),

    async targets(id, positions) {
      const [state, targets] = await Promise.all([redis.hget(runKey(id), 'state'), targetsAt(id, positions)]);
      return state === 'running' ? targets : null;
    },

    settle: (place, result) =>
      records.transact(runKey(place.runId), async (transaction) => {
        if (await transaction.isFirst(place)) transaction.settleRunItem(place, result);
      }),

    end: (id, againMs) =>
      records.transact(runKey(id), async (transaction) => {
        const run = await read(id);
        if (run?.state !== 'running') return true;
        const key = runKey(id);
        transaction.check({ key, field: 'state', value: 'running' });
        if (undecidedIn(run) > 0) {
          transaction.effect(['ZADD', KEYS.dueRuns, transaction.nowMs + againMs, id]);
          return false;
        }
        transaction.effect(['HSET', key, 'state', 'done', 'ended_at', transaction.nowMs], ['ZREM', KEYS.dueRuns, id]);
        transaction.addChange(general('run.changed'));
        return true;
      }),
  };
}

const newRun = { state: 'previewed', startedBy: null, startedAtMs: null, endedAtMs: null } as const;

function countsOf(results: readonly (RunResult | null)[]): StoredRun['counts'] {
  const counts = { done: 0, refused: 0, gone: 0 };
  for (const result of results) if (result) counts[result.outcome] += 1;
  return counts;
}

/** Sets fields, given as names and values in turn, with as many commands as they need. */
function fieldEffects(key: string, fields: readonly string[]): Effect[] {
  return Array.from({ length: Math.ceil(fields.length / ARGUMENTS_MAX) }, (_, at) => [
    'HSET',
    key,
    ...fields.slice(at * ARGUMENTS_MAX, (at + 1) * ARGUMENTS_MAX),
  ]);
}

/** Decodes the reply to `HMGET` of HEAD; null when there is no run. */
function headIn(reply: readonly (string | null)[]): StoredRun | null {
  if ((reply[0] ?? null) === null) return null;
  const head = runFields.parse(Object.fromEntries(HEAD.map((name, at) => [name, reply[at] ?? undefined])));
  return {
    document: head.document,
    state: head.state,
    startedBy: head.started_by,
    previewedAtMs: head.previewed_at,
    startedAtMs: head.started_at,
    endedAtMs: head.ended_at,
    counts: { done: head.done, refused: head.refused, gone: head.gone },
  };
}

function itemOf(
  run: StoredRun,
  { position, target }: { readonly position: number; readonly target: RunTarget },
  result: RunResult | null,
): RunItemView {
  return {
    position,
    id: target.id,
    type: target.type,
    towing_reference_id: target.towingReferenceId,
    report_id: target.reportId,
    violation_id: target.violationId,
    outcome: outcomeAt(run, result),
    code: result?.code ?? null,
    message: result?.message ?? null,
  };
}
