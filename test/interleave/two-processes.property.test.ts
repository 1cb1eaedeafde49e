import { useRedis } from '../support/redis';
import { interleave } from './interleave';

const redis = useRedis();

test('two processes that work on one tow at the same time end in the state of a sequential run', async () => {
  const seen = await interleave(redis, 60);

  // Each of these must have happened, or the test proves little.
  const usual = ['claim busy', 'claim send', 'claim idle', 'claim needs_action', 'claim wait'];
  const settles = ['settle done', 'settle late', 'settle with claim send'];
  const people = ['say done', 'say refused', 'decide done', 'decide refused', 'receive done', 'attach done'];
  expect([...usual, ...settles, ...people].filter((name) => !seen.has(name))).toEqual([]);
}, 120_000);
