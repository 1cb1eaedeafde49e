import type { Redis } from 'ioredis';
import { jsonText } from '../contracts/stored';
import { storedPathAnswers, storedSecretsFault } from '../contracts/webhook-answers';
import { COMPARED_DAYS } from '../domain/webhook-silence';
import type { PathAnswers } from '../domain/webhook-answers';
import type { WebhookAnswerStore } from '../workflow/webhook-port';
import { KEYS } from './keys';
import { redisTimeMs } from './redis-time';
import { Script } from './scripts';

const countAnswers = new Script('count-answers');

/** The compared days, and the day of the silence itself. */
const KEPT_HOURS = (COMPARED_DAYS + 2) * 24;

/** Longer than the interval in which a receiver checks its files. */
const FAULT_KEPT_MS = 30_000;

/** What receivers answer: counted by lua/count-answers.lua, two small hashes for all processes. */
export function createWebhookAnswerStore(redis: Redis): WebhookAnswerStore {
  return {
    async add(answered) {
      const args = answered.flatMap(({ path, hasAccepted, refused, behindSeconds, isProxied }) => [
        path,
        hasAccepted ? 'accepted' : '',
        JSON.stringify(refused),
        behindSeconds ?? '',
        isProxied ? 'proxied' : '',
      ]);
      await countAnswers.run(redis, [KEYS.webhookAnswers, KEYS.webhookHours], [KEPT_HOURS, ...args]);
    },

    async reportSecrets(fault) {
      if (fault === null) await redis.del(KEYS.webhookSecrets);
      else await redis.set(KEYS.webhookSecrets, JSON.stringify(fault), 'PX', FAULT_KEPT_MS);
    },

    async read() {
      const [documents, hours, fault, readAtMs] = await Promise.all([
        redis.hgetall(KEYS.webhookAnswers),
        redis.hgetall(KEYS.webhookHours),
        redis.get(KEYS.webhookSecrets),
        redisTimeMs(redis),
      ]);
      return {
        byPath: {
          tow_request: answersOf(documents['tow_request']),
          tow_invoice: answersOf(documents['tow_invoice']),
          other: answersOf(documents['other']),
        },
        minutesOfHour: new Map(Object.entries(hours).map(([hour, minutes]) => [Number(hour), Number(minutes)])),
        secretsFault: jsonText(storedSecretsFault).safeParse(fault).data ?? null,
        readAtMs,
      };
    },
  };
}

/** A document that cannot be read counts as empty; the next answers replace it. */
function answersOf(json = '{}'): PathAnswers {
  return jsonText(storedPathAnswers).safeParse(json).data ?? storedPathAnswers.parse({});
}
