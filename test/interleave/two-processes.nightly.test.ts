import { useRedis } from '../support/redis';
import { interleave } from './interleave';

const redis = useRedis();

test('two processes that work on one tow at the same time end in the state of a sequential run, also in rare sequences', async () => {
  const seen = await interleave(redis, 200);

  const rare = ['claim escalated', 'settle late_accepted', 'settle with claim escalated'];
  expect(rare.filter((name) => !seen.has(name))).toEqual([]);
}, 600_000);
