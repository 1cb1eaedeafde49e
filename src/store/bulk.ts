import type { Redis } from 'ioredis';
import { bulkDocument, bulkHead, bulkResult, bulkStoredItem, type BulkHead, type BulkResult } from '../contracts/bulk';
import { jsonText } from '../domain/stored';
import { isoOrNull, isoTimestamp } from '../domain/timestamp';
import type { BulkItem, BulkRun, BulkStore, StoredBulk } from '../workflow/bulk-port';
import { outcomeAt, PREVIEW_MS, RUN_MS } from '../workflow/bulk-rules';
import type { Effect } from './commit';
import { bulkItemsKey, bulkRunKey, KEYS } from './keys';
import { unlessUnusable } from './readable-records';
import { fields, list } from './parse';
import { readTogether } from './batch-reads';
import { recordsOf } from './records';
import { wellFormedJson } from './scripts';

/**
 * Bulk runs in Redis. A run is one record (`v`, `document`, `head`). Its tasks are a hash of `<position>` and
 * `<position>:result`. Both expire at the same time.
 */

/** Another worker continues a run whose worker has recorded nothing for this long. */
const TAKE_OVER_MS = 10_000;
/** After an abort a live worker has this long to record the result of its last task. */
const SETTLE_AFTER_MS = 1000;
/** Arguments per Redis command: Lua unpacks them on its stack, which is limited. */
const ARGUMENTS_MAX = 1000;

const FIELDS = ['v', 'document', 'head'] as const;
const storedDocument = jsonText(bulkDocument);
const storedHead = jsonText(bulkHead);
const storedItem = jsonText(bulkStoredItem);
const storedResult = jsonText(bulkResult);

/** `takeOverMs`: a worker that has recorded nothing for this long is replaced. */
export function createBulkStore(redis: Redis, { takeOverMs = TAKE_OVER_MS } = {}): BulkStore {
  const records = recordsOf(redis);
  const stored = async (id: string) => decoded(await redis.hmget(bulkRunKey(id), ...FIELDS));
  const resultAt = async (id: string, position: number): Promise<BulkResult | null> => {
    const json = await redis.hget(bulkItemsKey(id), `${position}:result`);
    return json === null ? null : storedResult.parse(json);
  };
  return {
    async create(document, chosen) {
      const key = bulkRunKey(document.id);
      await records.transact(key, (transaction) => {
        const { nowMs } = transaction;
        const head = newHead(
          chosen.map(({ result }) => result),
          nowMs,
        );
        const set = { document: wellFormedJson(document), head: wellFormedJson(head) };
        transaction.change({ key, expected: '', set });
        const open = chosen.flatMap(({ result }, position) => (result === null ? [position] : []));
        const next = new Map(open.map((position, place) => [position, open[place + 1] ?? null]));
        const items = chosen.flatMap(({ target, result }, position) => [
          String(position),
          wellFormedJson({ ...target, next: next.get(position) ?? null }),
          ...(result === null ? [] : [`${position}:result`, wellFormedJson(result)]),
        ]);
        for (let from = 0; from < items.length; from += ARGUMENTS_MAX) {
          transaction.effect(['HSET', bulkItemsKey(document.id), ...items.slice(from, from + ARGUMENTS_MAX)]);
        }
        transaction.effect(...expiryOf(document.id, PREVIEW_MS));
        transaction.effect(['ZADD', KEYS.bulkRuns, nowMs, document.id], ['EXPIRE', KEYS.bulkRuns, (2 * RUN_MS) / 1000]);
        return Promise.resolve();
      });
      await redis.zremrangebyscore(KEYS.bulkRuns, '-inf', (await records.nowMs()) - 2 * RUN_MS);
    },

    async read(id) {
      const [run, items] = await readTogether(redis, [
        ['HMGET', bulkRunKey(id), ...FIELDS],
        ['HGETALL', bulkItemsKey(id)],
      ]);
      const found = decoded(run);
      return found && { ...runOf(found), items: itemsOf(found.head, fields(items, 'bulk items')) };
    },

    async recent(limit) {
      const ids = await redis.zrevrange(KEYS.bulkRuns, 0, limit - 1);
      const found = await Promise.all(ids.map((id) => unlessUnusable(stored(id))));
      return found.flatMap((run) => (run ? [runOf(run)] : []));
    },

    async next(id) {
      const [found, nowMs] = await Promise.all([stored(id), records.nowMs()]);
      if (!found) return null;
      const { document, head } = found;
      const run = { document, head, nowMs };
      const position = head.current;
      const json = position === null ? null : await redis.hget(bulkItemsKey(id), String(position));
      if (position === null || json === null) return { run, item: null };
      const { next, ...target } = storedItem.parse(json);
      return { run, item: { position, target, next } };
    },

    async change(id, decide) {
      const key = bulkRunKey(id);
      return records.transact(key, async (transaction) => {
        const { nowMs } = transaction;
        const found = await stored(id);
        if (!found) return null;
        const { version, document, head } = found;
        const { value, change } = await decide({ document, head, nowMs }, (position) => resultAt(id, position));
        if (!change) return value;
        const set = { head: wellFormedJson(change.head) };
        transaction.change({ key, expected: version, set });
        transaction.effect(scheduleOf(id, nowMs, change.againInMs ?? againInMs(change.head, head, takeOverMs)));
        if (change.result) {
          const { position, ...result } = change.result;
          transaction.effect(['HSET', bulkItemsKey(id), `${position}:result`, wellFormedJson(result)]);
        }
        if (change.head.expiresAtMs !== head.expiresAtMs) {
          transaction.effect(...expiryOf(id, change.head.expiresAtMs - nowMs));
        }
        transaction.audit(change.audit ?? null);
        transaction.publish('bulk.changed');
        return value;
      });
    },

    async unschedule(id) {
      await records.commit({
        records: [{ key: bulkRunKey(id), expected: '' }],
        effects: [['ZREM', KEYS.dueBulk, id]],
      });
    },
  };
}

/** When a worker must run again, ms from now; null when nothing is left to do. */
function againInMs(after: BulkHead, before: BulkHead, takeOverMs: number): number | null {
  if (after.current === null) return null;
  switch (after.state) {
    case 'running':
      return before.state === 'running' ? takeOverMs : 0;
    case 'aborted':
      return SETTLE_AFTER_MS;
    case 'previewed':
    case 'interrupted':
    case 'done':
      return null;
  }
}

function scheduleOf(id: string, nowMs: number, inMs: number | null): Effect {
  return inMs === null ? ['ZREM', KEYS.dueBulk, id] : ['ZADD', KEYS.dueBulk, nowMs + inMs, id];
}

function expiryOf(id: string, lifetimeMs: number): Effect[] {
  const seconds = Math.ceil(lifetimeMs / 1000);
  return [bulkRunKey(id), bulkItemsKey(id)].map((key) => ['EXPIRE', key, seconds]);
}

function newHead(results: readonly (BulkResult | null)[], nowMs: number): BulkHead {
  const counts = { waiting: 0, done: 0, refused: 0, gone: 0, skipped: 0 };
  for (const result of results) counts[result?.outcome ?? 'waiting'] += 1;
  const first = results.indexOf(null);
  return {
    state: 'previewed',
    runBy: null,
    previewedAtMs: nowMs,
    startedAtMs: null,
    endedAtMs: null,
    expiresAtMs: nowMs + PREVIEW_MS,
    counts,
    current: first === -1 ? null : first,
    failures: 0,
  };
}

type DecodedRun = Pick<StoredBulk, 'document' | 'head'> & { readonly version: string };

/** Decodes the reply to `HMGET` of FIELDS; null when there is no run. */
function decoded(reply: unknown): DecodedRun | null {
  const [version, document, head] = list(reply, 'bulk run');
  if (typeof version !== 'string') return null;
  return { version, document: storedDocument.parse(document), head: storedHead.parse(head) };
}

function runOf({ document, head }: DecodedRun): BulkRun {
  const { state, runBy, previewedAtMs, startedAtMs, endedAtMs, expiresAtMs, counts } = head;
  return {
    ...document,
    state,
    runBy,
    previewedAt: isoTimestamp(previewedAtMs),
    startedAt: isoOrNull(startedAtMs),
    endedAt: isoOrNull(endedAtMs),
    expiresAt: isoTimestamp(expiresAtMs),
    counts,
    total: Object.values(counts).reduce((sum, count) => sum + count, 0),
  };
}

/** The tasks of a run by position, from their hash. */
function itemsOf(head: BulkHead, hash: ReadonlyMap<string, string>): BulkItem[] {
  const items: BulkItem[] = [];
  for (let position = 0; hash.has(String(position)); position += 1) {
    const { next: _next, ...target } = storedItem.parse(hash.get(String(position)));
    const json = hash.get(`${position}:result`);
    const result = json === undefined ? null : storedResult.parse(json);
    items.push({
      ...target,
      position,
      outcome: outcomeAt(head, position, result),
      words: result?.words ?? null,
      hasBegun: head.startedAtMs !== null && head.current === position,
    });
  }
  return items;
}
