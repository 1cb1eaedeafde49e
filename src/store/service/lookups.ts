import type { Redis } from 'ioredis';
import { lookUpReply } from '../../contracts/replies';
import type { Clock } from '../../platform/clock';
import { errorName } from '../../platform/errors';
import type { Log } from '../../platform/log/log';
import { pause } from '../../platform/timers';
import type { LookupOutcome, KeptAnswer, LookupCache } from '../../workflow/service/lookups';
import { lookupKey, lookupLockKey } from '../keys';
import { releaseLock, renewLock } from '../redis/locks';
import { texts } from '../redis/parse';
import { Script } from '../scripts';
import { nameHash, storedText, textOf } from '../redis/at-rest';

const lookUp = new Script('look-up');
const keepAnswer = new Script('keep-answer');

/** Lifetime of the lock. Another process may ask this long after the owner of the lock died. */
const LOCK_MS = 4000;
const RENEW_INTERVAL_MS = 1000;
const POLL_INTERVAL_MS = 50;
/** Lifetime of an answer that is not cached: long enough for the processes that poll for it. */
const SHARED_FOR_MS = 2000;
/** Longer than a call takes, including its wait for a rate limit permit. Afterwards the lookup is `busy`. */
const WAIT_MAX_MS = 20_000;

export interface LookupCacheTools {
  readonly clock: Clock;
  readonly log: Log;
  /** How long an answer is cached, ms. 0: it only serves the lookups that waited for it. */
  readonly keptMs: number;
}

type LookupResult = LookupOutcome | { readonly kind: 'busy' };

/**
 * Caches answers of the service, and makes one call per question over all processes. Within a process, lookups of the
 * same question share one promise. Between processes, a lock per question is renewed for as long as the call takes;
 * when its owner dies, the next process that polls makes the call. Keys are hashes of the questions, which may
 * contain plates.
 */
export function createLookupCache(redis: Redis, tools: LookupCacheTools): LookupCache {
  const { clock, log, keptMs } = tools;
  const running = new Map<string, Promise<LookupResult>>();

  /** An answer that could not be stored still serves its caller. Another lookup makes one more call. */
  const onFailure = (error: unknown) => log.warn('lookups.not_kept', { error_name: errorName(error) });

  const askUnderLock = async (
    name: string,
    owner: string,
    ask: () => Promise<LookupOutcome>,
  ): Promise<LookupOutcome> => {
    const lock = lookupLockKey(name);
    const renewal = setInterval(() => {
      renewLock(redis, lock, owner, LOCK_MS).catch(onFailure);
    }, RENEW_INTERVAL_MS);
    let asked: LookupOutcome | null = null;
    try {
      asked = await ask();
      return asked;
    } finally {
      clearInterval(renewal);
      const done = asked?.kind === 'answered' ? keep(name, owner, asked.answer) : releaseLock(redis, lock, owner);
      await done.catch(onFailure);
    }
  };

  const keep = async (name: string, owner: string, { data, checkedAtMs }: KeptAnswer) => {
    const keys = [lookupKey(name), lookupLockKey(name)];
    const stored = storedText(redis, placeOfData(name), JSON.stringify(data));
    await keepAnswer.run(redis, keys, [owner, stored, checkedAtMs, Math.max(keptMs, SHARED_FOR_MS)]);
  };

  const lookUpNow = async (name: string, ask: (waitedMs: number) => Promise<LookupOutcome>): Promise<LookupResult> => {
    const id = clock.id();
    const startedMs = clock.monotonicMs();
    const keys = [lookupKey(name), lookupLockKey(name)];
    for (let waitedFor = ''; ;) {
      const reply = await lookUp.run(redis, keys, [id, LOCK_MS, keptMs, waitedFor]);
      const values = texts(reply, 'look-up').map((text) => textOf(redis, placeOfData(name), text));
      const found = lookUpReply.parse(values);
      const waitedMs = clock.monotonicMs() - startedMs;
      switch (found.kind) {
        case 'answer':
          return { kind: 'answered', answer: found.answer };
        case 'ask':
          return askUnderLock(name, id, () => ask(waitedMs));
        case 'wait':
          waitedFor = found.asker;
      }
      if (waitedMs >= WAIT_MAX_MS) return { kind: 'busy' };
      await pause(POLL_INTERVAL_MS * (1 + clock.random()));
    }
  };

  return {
    once(question, ask) {
      const name = nameHash(redis, JSON.stringify(question));
      const known = running.get(name);
      if (known) return known;
      const lookup = lookUpNow(name, ask).finally(() => running.delete(name));
      running.set(name, lookup);
      return lookup;
    },
  };
}

function placeOfData(name: string) {
  return { key: lookupKey(name), field: 'data' };
}
