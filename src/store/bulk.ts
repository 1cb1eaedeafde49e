import type { Redis } from 'ioredis';
import { bulkState, bulkTarget } from '../contracts/bulk';
import type { Clock } from '../platform/clock';
import type { BulkRun, BulkStore, HeldRun } from '../workflow/bulk-port';
import { bulkItems, bulkRun } from './bulk-record';
import { bulkItemsKey, bulkRunKey, KEYS, towKeys } from './keys';
import { fields, list, text, texts, UnexpectedReply } from './parse';
import { Script } from './scripts';
import { wellFormedJson } from './well-formed';

const createBulk = new Script('create-bulk');
const readBulk = new Script('read-bulk');
const takeBulk = new Script('take-bulk');
const beginItem = new Script('begin-bulk-item');
const noteItem = new Script('note-bulk-item');
const renewBulk = new Script('renew-bulk');
const letGoBulk = new Script('let-go-bulk');
const abortBulk = new Script('abort-bulk');

/** What was chosen is worth deciding on for so long; afterwards people look again. */
export const PREVIEW_MS = 3_600_000;
/**
 * From its start. Whatever was decided in it is remembered under its Idempotency-Key for 24 h from then on, and so for
 * longer than the run itself.
 */
export const RUN_MS = 86_400_000;

/** Decisions on many tasks at once, as they stand in Redis. */
export function createBulkStore(redis: Redis, clock: Clock): BulkStore {
  const readParts = async (id: string, parts: 'items' | '') => {
    const [now, run, items] = list(await readBulk.run(redis, keysOf(id), [parts]), 'read-bulk');
    const found = bulkRun(fields(run, 'bulk run'), Number(text(now, 'now')));
    return { found, items: fields(items, 'bulk items') };
  };
  return {
    async create(document, chosen) {
      const tasks = chosen.flatMap(({ target, result }) => [
        wellFormedJson(target),
        result?.outcome ?? 'waiting',
        result?.words ? wellFormedJson(result.words) : '',
      ]);
      const args = [document.id, wellFormedJson(document), PREVIEW_MS, RUN_MS, ...tasks];
      await createBulk.run(redis, keysOf(document.id), args);
    },

    async read(id) {
      const { found, items } = await readParts(id, 'items');
      return found && { ...found, items: bulkItems(items, found.total) };
    },

    async recent(limit) {
      const ids = await redis.zrevrange(KEYS.bulkRuns, 0, limit - 1);
      const runs = await Promise.all(ids.map(async (id) => (await readParts(id, '')).found));
      return runs.filter((run): run is BulkRun => run !== null);
    },

    async take(id, mode, { runBy, leaseMs, audit }) {
      const untilMs = clock.monotonicMs() + leaseMs;
      const args = [mode, leaseMs, wellFormedJson(runBy), audit ? wellFormedJson(audit) : '', RUN_MS];
      const [kind = '', value = ''] = texts(await takeBulk.run(redis, keysOf(id), args), 'take-bulk');
      switch (kind) {
        case 'taken':
          return { kind, held: heldRun({ redis, clock }, { id, epoch: value, leaseMs, untilMs }) };
        case 'not_now':
          return { kind, state: bulkState.parse(value) };
        case 'nothing_waits':
        case 'unknown':
          return { kind };
        default:
          throw new UnexpectedReply('take-bulk');
      }
    },

    async abort(id, audit) {
      const [kind = '', state = ''] = texts(
        await abortBulk.run(redis, keysOf(id), [wellFormedJson(audit)]),
        'abort-bulk',
      );
      switch (kind) {
        case 'not_now':
          return { kind, state: bulkState.parse(state) };
        case 'aborted':
        case 'unknown':
          return { kind };
        default:
          throw new UnexpectedReply('abort-bulk');
      }
    },
  };
}

function heldRun(
  { redis, clock }: { redis: Redis; clock: Clock },
  { id, epoch, leaseMs, untilMs }: { id: string; epoch: string; leaseMs: number; untilMs: number },
): HeldRun {
  const keys = keysOf(id);
  let heldUntilMs = untilMs;
  return {
    async begin(lane) {
      const askedMs = clock.monotonicMs();
      const reply = list(await beginItem.run(redis, keys, [epoch, leaseMs, lane]), 'begin-bulk-item');
      const [kind, position = '', target = '', hasBegun = ''] = reply.map((part) => text(part, 'begin-bulk-item'));
      if (kind === 'stopped') heldUntilMs = 0;
      if (kind !== 'item') return null;
      heldUntilMs = Math.max(heldUntilMs, askedMs + leaseMs);
      return {
        position: Number(position),
        target: bulkTarget.parse(JSON.parse(target)),
        mayHaveRun: hasBegun === '1',
      };
    },
    async note(position, { outcome, words }) {
      const args = [epoch, position, outcome, words ? wellFormedJson(words) : ''];
      return text(await noteItem.run(redis, keys, args), 'note-bulk-item') === '1';
    },
    async renew() {
      const askedMs = clock.monotonicMs();
      const mayBegin = text(await renewBulk.run(redis, keys, [epoch, leaseMs]), 'renew-bulk') === '1';
      heldUntilMs = mayBegin ? askedMs + leaseMs : 0;
      return mayBegin;
    },
    isSurelyHeld: () => clock.monotonicMs() < heldUntilMs,
    async letGo(why) {
      heldUntilMs = 0;
      const state = text(await letGoBulk.run(redis, keys, [epoch, why]), 'let-go-bulk');
      return state === '' ? null : bulkState.parse(state);
    },
  };
}

/** The KEYS of every script about one run, in the order that lua/shared/bulk.lua gives them names. */
function keysOf(id: string): string[] {
  return [...towKeys(''), bulkRunKey(id), bulkItemsKey(id), KEYS.bulkRuns];
}
