import { useRedis } from '../support/redis';
import { interleave } from './interleave';

const redis = useRedis();

test('two processes do what one after the other would have done, also in rare stories', async () => {
  const seen = await interleave(redis, 400);

  const rare = ['claim escalated', 'ack late_accepted', 'ack with claim escalated'];
  expect(rare.filter((name) => !seen.has(name))).toEqual([]);
}, 600_000);
