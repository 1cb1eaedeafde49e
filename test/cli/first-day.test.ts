import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { examine } from '../../src/doctor';
import { systemClock } from '../../src/platform/clock';
import { KEYS } from '../../src/store/keys';
import { startApp } from '../support/app';
import { eventually } from '../support/eventually';
import { startTestRedis } from '../support/redis';
import { runWith } from './command';
import { environmentOf } from './examine';
import { useInstallation, useStopLater } from './installation';

const SECRET = `whsec_${Buffer.from('a secret of the first day').toString('base64')}`;
const OTHER = `whsec_${Buffer.from('another secret of the tests').toString('base64')}`;
const installation = useInstallation({ WEBHOOK_SECRETS: SECRET });

const stopLater = useStopLater();

const foundContract = z.looseObject({ check: z.string(), state: z.string(), code: z.string(), what: z.string() });
const reportContract = z.looseObject({
  ready: z.boolean(),
  mode: z.string().nullable(),
  next: z.string().nullable(),
  steps: z.array(z.looseObject({ title: z.string(), state: z.string(), findings: z.array(foundContract) })),
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
    webhooks: steps.at(-1)?.findings.map(({ what }) => what),
    ...report,
    titles: steps.map(({ title }) => title),
    noted: steps.flatMap(({ findings }) =>
      findings.flatMap(({ check, state, code }) => (check === 'mode' && state === 'warning' ? [code] : [])),
    ),
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

  for (const id of ['a', 'b']) expect(await postWebhook({ id, secret: OTHER })).toBe(401);
  await counted('"signature_wrong":2');
  const refused = await firstDay();
  expect(refused).toMatchObject({ exitCode: 1, ready: false, open: ['First webhook: webhooks_refused'] });
  expect(refused.webhooks).toEqual([expect.stringMatching(/2 calls to \/tow-request .*refused.*secret is wrong/)]);
  expect(refused.next).toContain('WEBHOOK_SECRETS');

  expect(await postWebhook()).toBe(200);
  await counted('"refused":{}');
  expect(await firstDay()).toMatchObject({ exitCode: 0, ready: true, open: [], next: null, mode: 'live' });
});

test('towhook first-day shows the mode of the installation, not that of its own environment', async () => {
  expect(await firstDay({ SERVICE_MODE: 'shadow' })).toMatchObject({ mode: 'live', noted: ['mode_differs'] });

  const { redis, environment } = installation();
  const shadow = await startApp({
    redisUrl: redis.url,
    role: 'console',
    environment: { ...environment, CONSOLE_PORT: '0', SERVICE_MODE: 'shadow' },
  });
  try {
    expect(await firstDay()).toMatchObject({ exitCode: 0, mode: 'shadow', noted: ['shadow_mode'] });
  } finally {
    await shadow.stop();
  }
});

test('towhook first-day names a receiver with other secrets, and shows none', async () => {
  const { exitCode, open, out } = await firstDay({ WEBHOOK_SECRETS: OTHER });
  expect([exitCode, open[0]]).toEqual([1, 'Webhooks: test_call_not_verified']);
  for (const secret of [SECRET, OTHER, installation().app.apiKey]) expect(out).not.toContain(secret);
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

/** Waits until the receiver has stored what it answered to tow requests, once a second. The simulator limits each first day. */
async function counted(text: string): Promise<void> {
  await eventually(async () => {
    const answers = await installation().redis.ask('HGET', KEYS.webhookAnswers, 'tow_request');
    expect(String(answers)).toContain(text);
  });
}

/** Posts a signed tow request, as the service does. Returns the status of the answer. */
async function postWebhook({ id = 'first', secret = SECRET } = {}): Promise<number> {
  const body = JSON.stringify({
    violation_reference_id: 'V-20261122-FIRST1',
    towing_reference_id: 'TW-20261122-FIRST1',
  });
  const at = new Date();
  const answer = await fetch(`${installation().app.receiverUrl}/tow-request`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, at, body),
    },
    body,
  });
  return answer.status;
}
