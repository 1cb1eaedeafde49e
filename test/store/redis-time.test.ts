import { RedisClock } from '../../src/store/redis/redis-time';
import { useConnection, useRedis } from '../support/redis';

const redis = useRedis();

let localMs: number;
let clock: RedisClock;

useConnection(redis, (connection) => {
  localMs = 1000;
  clock = new RedisClock(connection, () => localMs);
});

/** A reply that shows this time comes `tookMs` after its call was sent. */
function reply(redisMs: number, tookMs: number): void {
  localMs += tookMs;
  clock.measured(redisMs, localMs - tookMs);
}

test('asks Redis while no reply has shown the time', async () => {
  const before = Date.now();

  expect(Math.abs((await clock.nowMs()) - before)).toBeLessThan(60_000);
});

test('a reply that is read late does not set the clock back', async () => {
  reply(500_000, 0);
  localMs += 10;
  // Redis has answered after 1 ms; the process was busy for 29 ms more.
  reply(500_011, 30);

  expect(await clock.nowMs()).toBe(500_040);
});

test('a reply that came sooner than those before corrects the clock', async () => {
  reply(500_000, 20);
  expect(await clock.nowMs()).toBe(500_000);

  reply(500_021, 1);

  expect(await clock.nowMs()).toBe(500_021);
});

test.each([
  ['forward', 560_000],
  ['back', 440_000],
])('follows a clock of Redis that is set %s', async (_direction, redisMs) => {
  reply(500_000, 1);

  reply(redisMs, 1);

  expect(await clock.nowMs()).toBe(redisMs);
});

test('forgets after ten seconds how soon a reply has come, because the clocks run apart', async () => {
  reply(500_000, 0);
  localMs += 10_001;
  reply(510_000, 5);

  expect(await clock.nowMs()).toBe(510_000);
});
