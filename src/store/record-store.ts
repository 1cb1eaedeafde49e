import type { Redis } from 'ioredis';
import type { RecordStore } from '../workflow/transaction-port';
import { recordsOf } from './records';

/** More than other processes could change what one decision is made on. */
const TRIES_MAX = 50;

/** The records in Redis, as use cases decide on them. */
export function createRecordStore(redis: Redis): RecordStore {
  const records = recordsOf(redis);
  return {
    async transact(line, decide) {
      for (let tries = 0; tries < TRIES_MAX; tries += 1) {
        const reply = await records.transact(line, decide);
        if (reply.kind === 'done') return reply.value;
        // What a check looks at has changed meanwhile: the decision is made again on what is there now.
      }
      throw new Error('what a decision is made on kept changing');
    },
  };
}
