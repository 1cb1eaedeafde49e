import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { examine } from '../../src/doctor';
import { systemClock } from '../../src/platform/clock';
import { KEYS } from '../../src/store/keys';
import { eventually } from '../support/eventually';
import { startTestRedis } from '../support/redis';
import { runWith } from './command';
import { environmentOf } from './examine';
import { useInstallation, useStopLater } from './installation';

const SECRET = `whsec_${Buffer.from('a secret of the first day').toString('base64')}`;
const installation = useInstallation({ WEBHOOK_SECRETS: SECRET });

const stopLater = useStopLater();

const reportContract = z.looseObject({
  ready: z.boolean(),
  mode: z.string(),
  next: z.string().nullable(),
  steps: z.array(
    z.looseObject({ title: z.string(), state: z.string(), findings: z.array(z.looseObject({ code: z.string() })) }),
  ),
});

async function firstDay(changes: Readonly<Record<string, string>> = {}) {
  const environment = environmentOf(installation(), { WEBHOOK_SECRETS: SECRET, ...changes });
  const result = await runWith(['first-day', '--json'], environment, {
    doctor: (options) => examine({ ...options, clock: systemClock, environment }),
  });
  const { steps, ...report } = reportContract.parse(result.json());
  const open = steps.filter(({ state }) => state === 'open');
  return {
    exitCode: result.exitCode,
    out: result.out,
    ...report,
    titles: steps.map(({ title }) => title),
    open: open.map(({ title, findings }) => `${title}: ${findings.at(-1)?.code ?? 'not looked at'}`),
  };
}

test('towhook first-day leads through every step, until the first webhook of the service has come', async () => {
  const before = await firstDay();
  expect(before.titles).toEqual([
    'Configuration',
    'This machine and Redis',
    'The service',
    'Its operations',
    'Webhooks',
    'Worker',
    'Console',
    'First webhook',
  ]);
  expect(before).toMatchObject({ exitCode: 1, ready: false, open: ['First webhook: no_webhook_yet'] });
  expect(before.next).toContain('public address of the receiver');

  expect(await postWebhook()).toBe(200);
  // The delivery is listed once it is stored, which was before the answer.
  await eventually(async () => {
    expect(await firstDay()).toMatchObject({ exitCode: 0, ready: true, open: [], next: null, mode: 'live' });
  });
  expect(await firstDay({ SERVICE_MODE: 'shadow' })).toMatchObject({ exitCode: 0, ready: true, mode: 'shadow' });
});

test('towhook first-day names a receiver with other secrets, and shows none', async () => {
  const other = `whsec_${Buffer.from('another secret of the tests').toString('base64')}`;
  const { exitCode, open, out } = await firstDay({ WEBHOOK_SECRETS: other });
  expect([exitCode, open[0]]).toEqual([1, 'Webhooks: test_call_not_verified']);
  for (const secret of [SECRET, other, installation().app.apiKey]) expect(out).not.toContain(secret);
});

test('towhook first-day makes its test call with a shared secret that has letters beyond ASCII', async () => {
  const shared = { WEBHOOK_SHARED_SECRET: 'سر مشترك', WEBHOOK_SHARED_SECRET_HEADER: 'X-Tow-Secret' };
  expect(await firstDay(shared)).toMatchObject({ exitCode: 0, open: [] });
});

test('towhook first-day does not look at operations before the credentials are right, and names those first', async () => {
  const { exitCode, open, next } = await firstDay({ SERVICE_CLIENT_SECRET: 'not-the-secret' });
  expect(exitCode).toBe(1);
  expect(open).toContain('Its operations: not looked at');
  expect(next).toContain('SERVICE_CLIENT_ID');
});

test('towhook first-day is not ready while no worker runs', async () => {
  const redis = stopLater(await startTestRedis({ appendfsync: 'always' }));
  await redis.ask('SET', KEYS.spoolMarker, String(await installation().redis.ask('GET', KEYS.spoolMarker)));
  const { exitCode, ready, open, next } = await firstDay({ REDIS_URL: redis.url });
  expect([exitCode, ready]).toEqual([1, false]);
  expect(open).toContain('Worker: worker_missing');
  expect(next).toContain('-- worker');
});

test('towhook first-day keeps a step open whose decisive check was skipped', async () => {
  const environment = environmentOf(installation(), { WEBHOOK_SECRETS: SECRET, RECEIVER_PORT: '0' });
  const { out, exitCode } = await runWith(['first-day'], environment, {
    doctor: (options) => examine({ ...options, clock: systemClock, environment }),
  });
  expect(exitCode).toBe(1);
  expect(out).toMatch(/^5\. Webhooks: open\n {3}not looked at: RECEIVER_PORT is 0/m);
});

test('towhook first-day prints one line for each step and the next thing to do', async () => {
  const environment = environmentOf(installation(), {
    WEBHOOK_SECRETS: SECRET,
    SERVICE_CLIENT_SECRET: 'not-the-secret',
  });
  const { out } = await runWith(['first-day'], environment, {
    doctor: (options) => examine({ ...options, clock: systemClock, environment }),
  });
  expect(out).toMatch(/^1\. Configuration: done$/m);
  expect(out).toMatch(/^3\. The service: open$/m);
  expect(out).toMatch(/^ {3}do: Check SERVICE_CLIENT_ID/m);
  expect(out.split('\n').at(-1)).toMatch(/^Not ready: .* Next: Check SERVICE_CLIENT_ID/);
});

/** Posts a signed tow request, as the service does. Returns the status of the answer. */
async function postWebhook(): Promise<number> {
  const body = JSON.stringify({
    violation_reference_id: 'V-20261122-FIRST1',
    towing_reference_id: 'TW-20261122-FIRST1',
  });
  const at = new Date();
  const answer = await fetch(`${installation().app.receiverUrl}/tow-request`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': 'first',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(SECRET).sign('first', at, body),
    },
    body,
  });
  return answer.status;
}
