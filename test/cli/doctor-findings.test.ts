import { z } from 'zod';
import { findingLines, type Finding } from '../../src/cli/finding';
import { alarmPage } from '../../src/contracts/ops/notifications';
import { refusedCall } from '../../src/contracts/webhook/webhooks';
import { clockFinding, inTime } from '../../src/doctor/finding';
import { checkNode } from '../../src/doctor/machine';
import { api } from '../operator/client';
import { eventually } from '../support/eventually';
import { examineHere, NODE_WARNINGS, SECRETS } from './examine';
import { startRedisWithWorker, useInstallation } from './installation';

const installation = useInstallation();
const opened: { stop: () => Promise<unknown> }[] = [];
afterAll(() => Promise.all(opened.map((resource) => resource.stop())));

test.each([
  ['redis_syncs_late', 'a Redis that syncs once a second', () => startRedis('everysec')],
  ['redis_syncs_late', 'a Redis that leaves syncing to the operating system', () => startRedis('no')],
  ['webhooks_unverified', 'webhooks without a secret', async () => ({ WEBHOOK_SECRETS: '' })],
  [
    'webhooks_unverified',
    'invoice webhooks without a secret',
    async () => ({ WEBHOOK_SECRETS: '', WEBHOOK_SECRETS_TOW_REQUEST: SECRETS.WEBHOOK_SECRETS }),
  ],
  [
    'webhooks_unverified',
    'webhooks without a secret that are accepted in production',
    async () => ({ WEBHOOK_SECRETS: '', NODE_ENV: 'production', WEBHOOK_UNVERIFIED: 'accept' }),
  ],
])('towhook doctor warns of %s and reports no fault for %s', async (code, _cause, change) => {
  const { exitCode, report } = await examineHere(installation(), { environment: await change() });
  const warnings = report.findings.filter(({ state }) => state === 'warning').map((found) => found.code);
  expect(warnings.filter((warning) => !NODE_WARNINGS.includes(warning))).toEqual([code]);
  expect(exitCode).toBe(0);
});

test('towhook doctor reports a fault for webhooks without a secret in production', async () => {
  const environment = { WEBHOOK_SECRETS: '', NODE_ENV: 'production' };
  const { exitCode, report } = await examineHere(installation(), { environment });
  const faults = report.findings.filter(({ state }) => state === 'fault');
  expect(faults.map((found) => found.code)).toEqual(['webhooks_unverified']);
  expect(faults[0]?.what).toContain('on /tow-request and /tow/invoice');
  expect(exitCode).toBe(5);
});

test('towhook doctor raises no alarm about refused webhooks, and none of its calls is listed as refused', async () => {
  const { app } = installation();
  for (let run = 0; run < 5; run += 1) {
    // oxlint-disable-next-line eslint/no-await-in-loop
    expect((await examineHere(installation())).exitCode).toBe(0);
  }
  // A call that is refused is stored with those before it.
  await fetch(`${app.receiverUrl}/tow/invoice`, { method: 'POST', body: 'no JSON' });
  await eventually(async () => {
    const { items } = z.object({ items: z.array(refusedCall) }).parse((await api(app).get('/api/refused-calls')).body);
    expect(items.map(({ path }) => path)).toEqual(['/tow/invoice']);
    const alarms = alarmPage.parse((await api(app).get('/api/alarms')).body).items;
    const refused = alarms.filter(({ kind }) => kind === 'webhooksRefused');
    expect(refused.map(({ title }) => title)).toEqual([expect.stringContaining('/tow/invoice')]);
  });
});

/** Starts a Redis with an `appendfsync` policy. Returns the variable that selects it. */
async function startRedis(appendfsync: string) {
  const redis = await startRedisWithWorker(installation(), { appendfsync });
  opened.push(redis);
  return { REDIS_URL: redis.url };
}

test('a doctor check that hangs is reported as no_answer_in_time', async () => {
  const [finding] = await inTime('disk', 20, new Promise<Finding>(() => {}));
  expect(finding).toMatchObject({ check: 'disk', state: 'fault', code: 'no_answer_in_time' });
  expect(finding?.what).toContain('did not answer in time');
});

test('a doctor check that fails is reported as look_failed without the text of the error', async () => {
  const error = Object.assign(new Error('SECRETPART'), { code: 'EIO' });
  const [finding] = await inTime('disk', 60_000, Promise.reject<Finding>(error));
  const what = 'could not be checked (EIO)';
  expect(finding).toMatchObject({ check: 'disk', state: 'fault', code: 'look_failed', what });
  expect(JSON.stringify(finding)).not.toContain('SECRETPART');
});

test.each([
  [1000, 'fine'],
  [-29_000, 'fine'],
  [31_000, 'warning'],
  [-119_000, 'warning'],
  [121_000, 'fault'],
  [-3_600_000, 'fault'],
])('towhook doctor rates a Redis clock %d ms ahead of this machine as %s', (skewMs, state) => {
  expect(clockFinding('redis clock', skewMs).state).toBe(state);
});

test.each([
  ['18.20.0', false, 'fault', 'node_too_old'],
  ['22.23.2', false, 'fine', 'new_enough'],
  ['24.20.0', true, 'warning', 'node_misreads_json'],
])('towhook doctor rates Node %s, where keys of JSON are misread: %s, as %s', (version, misreads, state, code) => {
  expect(checkNode(version, misreads)).toMatchObject({ state, code });
});

const found = (state: Finding['state']): Finding => ({ check: 'redis', state, code: 'any', what: 'any', fix: null });

test.each<[Finding['state'][], string]>([
  [['fine'], 'No faults, 0 warnings.'],
  [['warning'], 'No faults, 1 warning.'],
  [['fault', 'warning', 'warning'], '1 fault, 2 warnings.'],
  [['fault', 'fault'], '2 faults, 0 warnings.'],
])('the sum of the findings %j is "%s"', (states, sum) => {
  expect(findingLines(states.map(found)).at(-1)).toBe(sum);
});
