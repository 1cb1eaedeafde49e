import { systemClock } from '../../src/platform/clock';
import { requestOf } from './requests';
import { endAll, simulate } from './support';

/** The rate limits of docs/simulator.md#profiles. */
afterEach(endAll);

const startMs = Date.UTC(2026, 2, 1, 8, 0, 0, 0);

/** A simulator whose clock is set by the test. */
async function atTime(profile: object) {
  const time = { nowMs: startMs };
  const clock = { ...systemClock, nowMs: () => time.nowMs };
  const simulator = await simulate({ clock, profile });
  const request = requestOf('detained', await simulator.orderTow());
  const bearer = await simulator.token();
  return { time, simulator, detain: () => simulator.operate('detained', request, { bearer }) };
}

type Answer = Awaited<ReturnType<Awaited<ReturnType<typeof atTime>>['detain']>>;
const limitsOf = ({ status, headers }: Answer) => [
  status,
  headers['x-ratelimit-limit'],
  headers['x-ratelimit-remaining'],
  headers['retry-after'],
];

test('a budget with a limit has its headers on every answer and gets 429 without effect until the window ends', async () => {
  const { time, simulator, detain } = await atTime({ rate_limits: { tow: 2 } });
  const answers = [await detain(), await detain(), await detain()];
  time.nowMs += 59_999;
  answers.push(await detain());
  time.nowMs += 1;
  answers.push(await detain());

  expect(answers.map(limitsOf)).toEqual([
    [200, '2', '1', undefined],
    [200, '2', '0', undefined],
    [429, '2', '0', '60'],
    [429, '2', '0', '1'],
    [200, '2', '1', undefined],
  ]);
  expect(answers[0]?.headers['x-ratelimit-reset']).toBe(String(startMs / 1000 + 60));
  expect((await simulator.world()).counts).toMatchObject({ statuses: 3 });
});

test('budgets are counted apart, and one without a limit has no headers', async () => {
  const { simulator, detain } = await atTime({ rate_limits: { tow: 1, site: 5 } });
  await detain();
  const zone = requestOf('capacity', await simulator.orderTow());

  expect(limitsOf(await detain())).toEqual([429, '1', '0', '60']);
  expect(limitsOf(await simulator.operate('capacity', zone))).toEqual([200, '5', '4', undefined]);
  const ticket = await simulator.operate('ticket', requestOf('ticket', await simulator.orderTow()));
  expect(limitsOf(ticket)).toEqual([200, undefined, undefined, undefined]);
});

test.each([
  ['epoch_seconds', String(startMs / 1000 + 60)],
  ['epoch_ms', String(startMs + 60_000)],
  ['seconds', '60'],
  ['date', 'Sun, 01 Mar 2026 08:01:00 GMT'],
  ['absent', undefined],
])('sends the reset of a limit in the form %s', async (rate_limit_reset, text) => {
  const { detain } = await atTime({ rate_limits: { tow: 1 }, rate_limit_reset });
  expect((await detain()).headers['x-ratelimit-reset']).toBe(text);
});

test.each([
  ['seconds', '60'],
  ['date', 'Sun, 01 Mar 2026 08:01:00 GMT'],
  ['nonsense', 'soon'],
  ['absent', undefined],
])('sends the wait of a 429 in the form %s', async (retry_after, text) => {
  const { detain } = await atTime({ rate_limits: { tow: 1 }, retry_after });
  await detain();
  expect((await detain()).headers['retry-after']).toBe(text);
});
