import type { Redis } from 'ioredis';
import { walkRecord } from '../contracts/conservation';
import { walkReply } from '../contracts/replies';
import { recordsLostTask } from '../domain/tasks';
import type { ConservationStore } from '../workflow/conservation-port';
import { KEYS, violationKeys } from './keys';
import { texts } from './parse';
import { Script } from './scripts';
import { generalTaskJson } from './tows';

const walkLedger = new Script('walk-ledger');

export interface WalkSettings {
  /** How many names one step looks at. */
  readonly namesPerStep: number;
  /** The pause between steps of all processes together. */
  readonly paceMs: number;
  /** From the beginning of one walk to the beginning of the next, at least. */
  readonly walkEveryMs: number;
}

/**
 * A step takes Redis 1 to 3 ms, so that a walk takes a few hundredths of its time however long the ledger is: a hundred
 * thousand names are walked in two minutes, a few in one step a second.
 */
export const WALK_SETTINGS: WalkSettings = { namesPerStep: 100, paceMs: 100, walkEveryMs: 1000 };

/** The walk over the ledger in Redis; see the header of lua/walk-ledger.lua. */
export function createConservationStore(redis: Redis, settings: WalkSettings = WALK_SETTINGS): ConservationStore {
  const { namesPerStep, paceMs, walkEveryMs } = settings;
  const keys = [...violationKeys(''), KEYS.walk, KEYS.lastWalk];
  const args = [namesPerStep, paceMs, walkEveryMs, recordsLostTask.subject, generalTaskJson(recordsLostTask)];
  return {
    async step() {
      const [kind, waitMs] = walkReply.parse(texts(await walkLedger.run(redis, keys, args), 'walk-ledger'));
      return { isLast: kind === 'ended', waitMs };
    },

    async lastWalk() {
      const [hash, [seconds]] = await Promise.all([redis.hgetall(KEYS.lastWalk), redis.time()]);
      if (hash['ended_at'] === undefined) return null;
      const { lostNames, ...walk } = walkRecord.parse({
        ...hash,
        deliveries: fieldsOf(hash, 'deliveries.'),
        reports: fieldsOf(hash, 'reports.'),
        violations: fieldsOf(hash, 'violations.'),
      });
      const ageMs = Math.max(0, Number(seconds) * 1000 - walk.endedAtMs);
      return { ...walk, ageMs, lostNames: lostNames.map((name) => name.replaceAll('\n', ' ')) };
    },
  };
}

/** The fields of a hash that begin with a prefix, without it. */
function fieldsOf(hash: Readonly<Record<string, string>>, prefix: string): Record<string, string> {
  const fields = Object.entries(hash).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(fields.map(([name, value]) => [name.slice(prefix.length), value]));
}
