import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { everythingOnce, playBehindPage } from './behind-a-page';

jest.setTimeout(240_000);
const redis = useRedis();

test('while a page answers every call with 200 nothing is accepted, and afterwards every report arrives once and in order', async () => {
  const { answeredByPage, ...arrived } = await playBehindPage(redis.url, {
    tows: 3,
    whileShown: (page) => eventually(() => expect(page.answered().length).toBeGreaterThanOrEqual(6), 60_000),
  });

  expect(arrived).toEqual(everythingOnce(3));
  // A create that the page answered might have worked: none went into it while the circuit was open.
  expect(answeredByPage.filter((call) => /invoice|violation/.test(call))).toEqual([]);
});
