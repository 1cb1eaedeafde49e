import type { Redis } from 'ioredis';
import { jsonText } from '../../domain/stored';
import { DAY_MS, HOUR_MS, isoTimestamp } from '../../domain/timestamp';
import {
  type AnswersByPath,
  countAnswers,
  hasAcceptedWebhook,
  NO_ANSWERS,
  type PathAnswers,
  pathAnswers,
  secretsFault,
  WEBHOOK_PATHS,
} from '../../domain/webhook/webhook-answers';
import { minuteToCount, outdatedHours } from '../../domain/webhook/webhook-silence';
import type { RefusedCallStore, WebhookAnswerStore } from '../../workflow/webhook/webhook-port';
import { KEYS, refusedCallsKey } from '../keys';
import type { Fields } from '../redis/packed-fields';
import { recordsOf } from '../outbox/records';
import { redisTimeMs } from '../redis/redis-time';
import { ignoreUnconfirmed } from '../redis/replicas';
import type { RecordTransaction } from '../redis/transaction';
import { refusedCall } from '../../contracts/webhook/webhooks';
import { sha256Hex } from '../../platform/hash';
import { Script } from '../scripts';

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

const keepRefused = new Script('keep-refused');

/** At most 5 calls of each of 12 sources per reason: 840 in all, about 1 KB each. */
const CALLS_PER_GROUP = 5;
const GROUPS_PER_REASON = 12;
const KEPT_MS = DAY_MS;

/** The newest refused calls to receivers (lua/keep-refused.lua). */
export function createRefusedCallStore(redis: Redis): RefusedCallStore {
  return {
    async keep(calls) {
      const args = calls.flatMap((call) => [call.reason, sha256Hex(call.source).slice(0, 16), JSON.stringify(call)]);
      const keys = [KEYS.refusedGroups, KEYS.refusedCalls];
      await keepRefused.run(redis, keys, [CALLS_PER_GROUP, GROUPS_PER_REASON, KEPT_MS, ...args]);
    },

    async list(limit) {
      const groups = await redis.zrevrange(KEYS.refusedGroups, 0, -1);
      const [nowMs, ...lists] = await Promise.all([
        redisTimeMs(redis),
        ...groups.map((group) => redis.lrange(refusedCallsKey(group), 0, -1)),
      ]);
      const oldest = isoTimestamp(nowMs - KEPT_MS);
      return lists
        .flat()
        .flatMap((json) => jsonText(refusedCall).safeParse(json).data ?? [])
        .filter(({ received_at: at }) => at > oldest)
        .toSorted((one, other) => other.received_at.localeCompare(one.received_at))
        .slice(0, limit);
    },
  };
}
