import { Webhook } from 'standardwebhooks';
import { createWebhookSender, type NoticeWebhook } from '../../src/notify/webhook';
import { systemClock } from '../../src/platform/clock';
import { DEAD_ADDRESS } from '../cli/fake-service';
import { NO_RECEIVER, noticeReceiver, SIGNING_SECRET, startNotice } from '../support/notifications';

let receiver: Awaited<ReturnType<typeof noticeReceiver>>;
beforeEach(async () => {
  receiver = await noticeReceiver();
});
afterEach(() => receiver.close());

const consoleUrl = 'https://console.towing.example';
const webhook: NoticeWebhook = { format: 'standard', secret: null, proxyUrl: null, caFile: null };
const tools = { consoleUrl, clock: systemClock, textOf: () => ({ subject: '', text: '' }) };
const sender = createWebhookSender({ ...tools, webhook: { ...webhook, secret: SIGNING_SECRET } });
const send = (changes = {}) => sender.send(startNotice(), { ...NO_RECEIVER, webhookUrl: receiver.url, ...changes });

test('posts a notice whose signature any library of Standard Webhooks verifies', async () => {
  expect(await send()).toEqual({ kind: 'delivered', problem: null });
  const [{ headers, body } = { headers: {}, body: '' }] = receiver.received;
  expect(headers).toMatchObject({ 'webhook-id': 'a1.started', 'content-type': 'application/json' });
  expect(new Webhook(SIGNING_SECRET).verify(body, headers)).toEqual({
    id: 'a1.started',
    type: 'alarm.started',
    timestamp: '2026-11-22T06:01:00.000Z',
    data: {
      page: 'https://console.towing.example/ops',
      alarm: {
        id: 'a1',
        kind: 'outage',
        severity: 'bad',
        since: '2026-11-22T06:00:00.000Z',
        title: 'The service is down.',
        what_to_do: 'Wait.',
      },
    },
  });
  expect(() => new Webhook(SIGNING_SECRET).verify(`${body} `, headers)).toThrow('No matching signature found');
});

test('counts only a 2xx as delivered, and follows no redirect', async () => {
  receiver.answers.status = 500;
  expect(await send()).toEqual({ kind: 'failed', problem: 'http_500' });
  receiver.answers.status = 307;
  receiver.answers.headers = { location: receiver.url };
  expect(await send()).toEqual({ kind: 'failed', problem: 'http_307' });
  expect(receiver.received).toHaveLength(2);
});

test('names a connection that fails by its code, without the address', async () => {
  const { kind, problem } = await send({ webhookUrl: `${DEAD_ADDRESS}/secret-path` });
  expect(kind).toBe('failed');
  expect(problem).toBe('ECONNREFUSED');
});

test('needs a secret, so that no notice leaves unsigned', async () => {
  const unsigned = createWebhookSender({ ...tools, webhook });
  expect(unsigned.missing).toEqual(['NOTIFY_WEBHOOK_SECRET']);
  expect(await unsigned.send(startNotice(), { ...NO_RECEIVER, webhookUrl: receiver.url })).toEqual({
    kind: 'failed',
    problem: 'not_configured',
  });
  expect(receiver.received).toEqual([]);
});
