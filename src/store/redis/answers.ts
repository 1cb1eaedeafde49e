import type { Redis } from 'ioredis';
import type { AnswerStore } from '../../workflow/ports';
import { idempotencyKey } from '../keys';
import { unpackFields } from './packed-fields';
import { text } from './parse';
import { replicated } from './replicas';
import { Script } from '../scripts';
import { storedText, textOf } from './at-rest';

const settleAnswer = new Script('settle-answer');

/** The answers of requests with an Idempotency-Key. Those that a commit stores are packed. */
export function createAnswerStore(redis: Redis): AnswerStore {
  return {
    async find(scope) {
      const stored = await redis.hgetall(idempotencyKey(scope));
      if (!stored['fingerprint']) return null;
      // The first request may have ended before the replicas had its commit: this one acknowledges it.
      const { fingerprint = '', answer = null } = unpackFields(await replicated(redis, () => Promise.resolve(stored)));
      return { fingerprint, answer };
    },
    async settle(scope, answer) {
      const place = { key: idempotencyKey(scope), field: 'answer' };
      const settled = await settleAnswer.run(redis, [place.key], [storedText(redis, place, answer)]);
      return textOf(redis, place, text(settled, 'settle-answer'));
    },
  };
}
