import type { Finding } from '../../src/cli';
import { clockFinding, inTime } from '../../src/main/doctor/finding';
import { startTestRedis } from '../support/redis';
import { examined, SECRETS } from './examined';
import { useHouse } from './house';

jest.setTimeout(90_000);
const house = useHouse();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

test.each([
  ['a Redis that syncs once a second', 'redis_syncs_late', async () => syncing('everysec')],
  ['a Redis that syncs when it likes', 'redis_syncs_late', async () => syncing('no')],
  ['webhooks that no secret proves', 'webhooks_unverified', async () => ({ WEBHOOK_SECRETS: '' })],
  [
    'webhooks of one kind that no secret proves',
    'webhooks_unverified',
    async () => ({ WEBHOOK_SECRETS: '', WEBHOOK_SECRETS_TOW_REQUEST: SECRETS.WEBHOOK_SECRETS }),
  ],
])('%s: a warning, and no fault', async (_name, code, environment) => {
  const { exitCode, report } = await examined(house(), await environment());
  expect(report.findings.filter(({ state }) => state === 'warning').map((found) => found.code)).toEqual([code]);
  expect(exitCode).toBe(0);
});

async function syncing(policy: string) {
  const redis = await startTestRedis({ appendfsync: policy });
  closing.push(() => redis.stop());
  return { REDIS_URL: redis.url };
}

test('a look that never ends is given up, and one that fails is told', async () => {
  const asIs = { limitMs: 20, otherwise: (fault: Finding) => fault };
  const hanging = await inTime('disk', { ...asIs, look: new Promise<Finding>(() => {}) });
  const failing = await inTime('disk', { ...asIs, look: Promise.reject<Finding>(new Error('SECRETPART')) });
  expect(hanging).toMatchObject({ check: 'disk', state: 'fault', code: 'no_answer_in_time' });
  expect(hanging.what).toContain('did not answer in time');
  expect(failing).toMatchObject({ check: 'disk', state: 'fault', code: 'look_failed' });
  expect(JSON.stringify(failing)).not.toContain('SECRETPART');
});

test.each([
  [1000, 'fine'],
  [-29_000, 'fine'],
  [31_000, 'warning'],
  [-119_000, 'warning'],
  [121_000, 'fault'],
  [-3_600_000, 'fault'],
])('a clock that is %d ms ahead is %s', (skewMs, state) => {
  expect(clockFinding('redis clock', skewMs).state).toBe(state);
});
