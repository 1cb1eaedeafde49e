import request from 'supertest';
import { messagesIn } from '../../src/console/messages';
import { alarmPage, testNoticeView } from '../../src/contracts/ops/notifications';
import { CHANNEL_FAILS_AFTER_MS, START_HOLD_MS } from '../../src/domain/ops/notices';
import { signedIn, textOf } from '../console/visitor';
import { api } from '../operator/client';
import { startApp, type App } from '../support/app';
import { eventually } from '../support/eventually';
import { CA_FILE, mailServer } from '../support/mail-server';
import { readMetricsText } from '../support/metrics-text';
import { noticeReceiver, SIGNING_SECRET } from '../support/notifications';
import { useRedis } from '../support/redis';
import { lookAfter } from './look-after';

const redis = useRedis();
let receiver: Awaited<ReturnType<typeof noticeReceiver>>;
let mail: Awaited<ReturnType<typeof mailServer>>;
let app: App;

beforeEach(async () => {
  receiver = await noticeReceiver();
  mail = await mailServer();
  const environment = {
    NOTIFY_WEBHOOK_URL: receiver.url,
    NOTIFY_WEBHOOK_SECRET: SIGNING_SECRET,
    NOTIFY_SMTP_URL: `smtp://localhost:${mail.port}`,
    NOTIFY_SMTP_CA_FILE: CA_FILE,
    NOTIFY_MAIL_FROM: 'towhook@towing.example',
    NOTIFY_MAIL_TO: 'one@towing.example',
  };
  app = await startApp({ redisUrl: redis.url, environment });
  await eventually(() => app.sendHeartbeat());
});
afterEach(async () => {
  await app.stop();
  await receiver.close();
});

const alarms = async () =>
  alarmPage
    .parse((await api(app).get('/api/alarms').expect(200)).body)
    .items.map(({ kind, title }) => ({ kind, title }));

test('shows a webhook that answers 500 as an alarm, mails it, and ends it with the next delivery', async () => {
  const { opsAlarms, notifications } = messagesIn('en');
  const problem = notifications.answered({ status: '500' });
  const title = opsAlarms.noticesFail.title({ channel: notifications.channels.webhook, problem });
  receiver.answers.status = 500;
  await app.foundation.queues.byName.runs.pause();
  await eventually(async () => {
    await lookAfter(app, START_HOLD_MS);
    expect(receiver.received).not.toEqual([]);
  });
  await eventually(async () => expect((await alarms()).map(({ kind }) => kind)).toEqual(['queuePaused']));
  await eventually(async () => {
    await lookAfter(app, CHANNEL_FAILS_AFTER_MS);
    expect(mail.mails.some(({ text }) => text.includes(`Subject: towhook: ${title.slice(0, 40)}`))).toBe(true);
  });

  await eventually(async () => {
    expect(await alarms()).toContainEqual({ kind: 'noticesFail', title });
    expect(textOf((await (await signedIn(app)).get('/ops')).html)).toContain(title);
    const ready = await request(app.opsUrl).get('/readyz');
    expect(ready.body).toMatchObject({ notification_alarms: [{ channel: 'webhook', problem: 'http_500' }] });
    expect(receiver.received.filter(({ body }) => body.includes('noticesFail'))).toEqual([]);
    const samples = readMetricsText((await request(app.opsUrl).get('/metrics')).text).flatMap((each) => each.samples);
    const valueOf = (name: string, channel: string) =>
      samples.find((sample) => sample.name === name && sample.labels['channel'] === channel)?.value;
    expect(valueOf('towhook_notice_failing_seconds', 'webhook')).toBeGreaterThanOrEqual(CHANNEL_FAILS_AFTER_MS / 1000);
    expect(valueOf('towhook_notice_failing_seconds', 'mail')).toBeUndefined();
    expect(valueOf('towhook_notice_oldest_seconds', 'webhook')).toBeGreaterThanOrEqual(0);
    const failed = samples.find(
      ({ name, labels }) => name === 'towhook_notice_attempts_total' && labels['outcome'] === 'failed',
    );
    expect(failed?.labels['channel']).toBe('webhook');
  });

  receiver.answers.status = 200;
  const tested = await api(app).post('/api/notifications/test').send({ channel: 'webhook' }).expect(200);
  expect(testNoticeView.parse(tested.body)).toEqual({ delivered: true, problem: null });
  await eventually(async () => expect((await alarms()).map(({ kind }) => kind)).toEqual(['queuePaused']));
});
