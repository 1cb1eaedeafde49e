import type { Redis } from 'ioredis';
import type { WrongKeyStore } from '../workflow/operator-port';
import { wrongKeysKey } from './keys';
import { text } from './parse';
import { Script } from './scripts';

const countWrongKey = new Script('count-wrong-key');

/** Wrong API keys by source, in Redis: a list of `max` timestamps at most, which expires after the window. */
export function createWrongKeyStore(redis: Redis): WrongKeyStore {
  return {
    async count(source, { max, windowMs }) {
      const reply = await countWrongKey.run(redis, [wrongKeysKey(source)], [max, windowMs]);
      const leftMs = Number(text(reply, 'count-wrong-key'));
      return leftMs === 0 ? null : leftMs;
    },
  };
}
