import { textOfRedis } from '../../support/whole-redis';

/** Prints everything that the Redis at REDIS_URL holds as text: test/support/whole-redis.ts. */
void textOfRedis(process.env['REDIS_URL'] ?? '').then((text) => process.stdout.write(text));
