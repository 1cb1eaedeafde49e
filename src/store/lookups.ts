import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { lookUpReply } from '../contracts/replies';
import type { Clock } from '../platform/clock';
import type { Log } from '../platform/log';
import type { Asked, KeptAnswer, LookupCache, Question } from '../workflow/lookup-port';
import { lookupKey, lookupLockKey } from './keys';
import { texts } from './parse';
import { Script } from './scripts';

const lookUp = new Script('look-up');
const keepAnswer = new Script('keep-answer');
const renewLock = new Script('renew-lock');
const unlock = new Script('unlock');

/** The right to ask ends so long after its holder was last heard of; then another asks. */
const RIGHT_LASTS_MS = 4000;
const RENEW_EVERY_MS = 1000;
const LOOK_EVERY_MS = 50;
/** Those who wait for an answer look this often, so one that is kept for a moment only is still there. */
const SHARED_FOR_MS = 2000;
/** Longer than a call takes with its wait for a slot; whoever waited so long is told to come back. */
const WAIT_MAX_MS = 20_000;

export interface LookupCacheTools {
  readonly clock: Clock;
  readonly log: Log;
  /** How long an answer serves others; 0 = only those who waited for it. */
  readonly keptMs: number;
}

type Flown = Asked | { readonly kind: 'busy' };

/**
 * The answers of the service, in Redis, and one asker per question over all processes. Within a process all who ask the
 * same share one promise; between processes the right to ask is a lock that its holder renews for as long as the call
 * takes: when it dies, the next one who looks takes over. Keys are hashes of the questions.
 */
export function createLookupCache(redis: Redis, tools: LookupCacheTools): LookupCache {
  const { clock, log, keptMs } = tools;
  const flights = new Map<string, Promise<Flown>>();

  /** Whoever waited has the answer anyway; that it is not kept costs one more call. */
  const onFailure = (error: unknown) =>
    log.warn('lookups.not_kept', { error_name: error instanceof Error ? error.name : 'unknown' });

  const askAlone = async (name: string, asker: string, ask: () => Promise<Asked>): Promise<Asked> => {
    const keys = [lookupKey(name), lookupLockKey(name)];
    const right = [lookupLockKey(name)];
    const renewal = setInterval(() => {
      renewLock.run(redis, right, [asker, RIGHT_LASTS_MS]).catch(onFailure);
    }, RENEW_EVERY_MS);
    let asked: Asked | null = null;
    try {
      asked = await ask();
      return asked;
    } finally {
      clearInterval(renewal);
      const done = asked?.kind === 'answered' ? keep(keys, asker, asked.answer) : unlock.run(redis, right, [asker]);
      await done.catch(onFailure);
    }
  };

  const keep = (keys: readonly string[], asker: string, { data, checkedAtMs }: KeptAnswer) =>
    keepAnswer.run(redis, keys, [asker, JSON.stringify(data), checkedAtMs, Math.max(keptMs, SHARED_FOR_MS)]);

  const fly = async (name: string, ask: (waitedMs: number) => Promise<Asked>): Promise<Flown> => {
    const me = clock.id();
    const startedMs = clock.monotonicMs();
    const keys = [lookupKey(name), lookupLockKey(name)];
    for (let waitedFor = ''; ;) {
      const reply = await lookUp.run(redis, keys, [me, RIGHT_LASTS_MS, keptMs, waitedFor]);
      const look = lookUpReply.parse(texts(reply, 'look-up'));
      const waitedMs = clock.monotonicMs() - startedMs;
      switch (look.kind) {
        case 'answer':
          return { kind: 'answered', answer: look.answer };
        case 'ask':
          return askAlone(name, me, () => ask(waitedMs));
        case 'wait':
          waitedFor = look.asker;
      }
      if (waitedMs >= WAIT_MAX_MS) return { kind: 'busy' };
      await sleep(LOOK_EVERY_MS * (1 + clock.random()));
    }
  };

  return {
    once(question, ask) {
      const name = nameOf(question);
      const known = flights.get(name);
      if (known) return known;
      const flight = fly(name, ask).finally(() => flights.delete(name));
      flights.set(name, flight);
      return flight;
    },
  };
}

/** A question by its hash: it may name a plate. */
function nameOf(question: Question): string {
  return createHash('sha256').update(JSON.stringify(question)).digest('hex');
}
