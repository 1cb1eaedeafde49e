import { pause } from '../../src/platform/timers';
import { useRedis } from '../support/redis';
import { everythingOnce, playBehindPage } from './behind-a-page';

jest.setTimeout(400_000);
const redis = useRedis();

test('a page that answers every call for a minute loses no report, repeats none and changes no order', async () => {
  const { answeredByPage, ...arrived } = await playBehindPage(redis.url, {
    tows: 12,
    whileShown: () => pause(60_000),
  });

  expect(arrived).toEqual(everythingOnce(12));
  expect(answeredByPage.filter((call) => /invoice|violation/.test(call))).toEqual([]);
});
