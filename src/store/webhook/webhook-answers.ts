import type { Redis } from 'ioredis';
import { jsonText } from '../../domain/stored';
import { HOUR_MS } from '../../domain/timestamp';
import {
  countAnswers,
  hasAcceptedWebhook,
  NO_ANSWERS,
  pathAnswers,
  secretsFault,
  WEBHOOK_PATHS,
  type AnswersByPath,
  type PathAnswers,
} from '../../domain/webhook/webhook-answers';
import { minuteToCount, outdatedHours } from '../../domain/webhook/webhook-silence';
import type { WebhookAnswerStore } from '../../workflow/webhook/webhook-port';
import { KEYS } from '../keys';
import type { Fields } from '../redis/packed-fields';
import { recordsOf } from '../outbox/records';
import { redisTimeMs } from '../redis/redis-time';
import { ignoreUnconfirmed } from '../redis/replicas';
import type { RecordTransaction } from '../redis/transaction';

/** The last minute with an accepted webhook, in the hash of the answers. */
const MINUTE = 'minute';

/** Longer than the interval in which a receiver checks its files. */
const FAULT_KEPT_MS = 30_000;

/** What receivers answer: two small hashes for all processes. */
export function createWebhookAnswerStore(redis: Redis): WebhookAnswerStore {
  const records = recordsOf(redis);

  const countMinute = async (transaction: RecordTransaction, counted: string | undefined): Promise<void> => {
    const { nowMs } = transaction;
    const minute = minuteToCount(counted === undefined ? null : Number(counted), nowMs);
    if (minute === null) return;
    const hours = await redis.hkeys(KEYS.webhookHours);
    const outdated = outdatedHours(hours.map(Number), nowMs);
    transaction.effect(
      ['HSET', KEYS.webhookAnswers, MINUTE, minute],
      ['HINCRBY', KEYS.webhookHours, Math.floor(nowMs / HOUR_MS), 1],
      ...outdated.map((hour) => ['HDEL', KEYS.webhookHours, hour] as const),
    );
  };

  return {
    async add(answered) {
      const counting = records.transact(KEYS.webhookAnswers, async (transaction) => {
        const fields: Fields = await redis.hgetall(KEYS.webhookAnswers);
        const before = answersIn(fields);
        const after = countAnswers(before, answered, transaction.nowMs);
        // Another receiver may count at the same time.
        for (const field of [...WEBHOOK_PATHS, MINUTE]) {
          transaction.check({ key: KEYS.webhookAnswers, field, value: fields[field] ?? '' });
        }
        for (const path of WEBHOOK_PATHS) {
          if (after[path] === before[path]) continue;
          transaction.effect(['HSET', KEYS.webhookAnswers, path, JSON.stringify(after[path])]);
        }
        if (hasAcceptedWebhook(answered)) await countMinute(transaction, fields[MINUTE]);
      });
      await ignoreUnconfirmed(counting);
    },

    async reportSecrets(fault) {
      if (fault === null) await redis.del(KEYS.webhookSecrets);
      else await redis.set(KEYS.webhookSecrets, JSON.stringify(fault), 'PX', FAULT_KEPT_MS);
    },

    async read() {
      const [fields, hours, fault, readAtMs] = await Promise.all([
        redis.hgetall(KEYS.webhookAnswers),
        redis.hgetall(KEYS.webhookHours),
        redis.get(KEYS.webhookSecrets),
        redisTimeMs(redis),
      ]);
      return {
        byPath: answersIn(fields),
        minutesOfHour: new Map(Object.entries(hours).map(([hour, minutes]) => [Number(hour), Number(minutes)])),
        secretsFault: jsonText(secretsFault).safeParse(fault).data ?? null,
        readAtMs,
      };
    },
  };
}

function answersIn(fields: Fields): AnswersByPath {
  const { tow_request: requests, tow_invoice: invoices, other } = fields;
  return { tow_request: answersOf(requests), tow_invoice: answersOf(invoices), other: answersOf(other) };
}

const storedAnswers = jsonText(pathAnswers);

/** A document that cannot be read counts as empty; the next answers replace it. */
function answersOf(json: string | undefined): PathAnswers {
  return storedAnswers.safeParse(json).data ?? NO_ANSWERS;
}
