import type { Redis } from 'ioredis';
import type { AnswerStore } from '../workflow/ports';
import { idempotencyKey } from './keys';
import { text } from './parse';
import { Script } from './scripts';

const settleAnswer = new Script('settle-answer');

/** The answers remembered under idempotency keys. */
export function createAnswerStore(redis: Redis): AnswerStore {
  return {
    async find(scope) {
      const [fingerprint, answer] = await redis.hmget(idempotencyKey(scope), 'fingerprint', 'answer');
      return fingerprint ? { fingerprint, answer: answer ?? null } : null;
    },
    settle: async (scope, answer) =>
      text(await settleAnswer.run(redis, [idempotencyKey(scope)], [answer]), 'settle-answer'),
  };
}
