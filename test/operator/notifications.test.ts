import { alarmPage, notificationsView, testNoticeView } from '../../src/contracts/ops/notifications';
import { run } from '../cli/command';
import { startApp, type App } from '../support/app';
import { noticeReceiver, SIGNING_SECRET } from '../support/notifications';
import { useRedis } from '../support/redis';
import { api, entriesOf, newKey } from './client';

const redis = useRedis();
let receiver: Awaited<ReturnType<typeof noticeReceiver>>;
let app: App;

/** Without worker and receiver, so that two alarms hold. */
beforeEach(async () => {
  receiver = await noticeReceiver();
  const environment = { NOTIFY_WEBHOOK_SECRET: SIGNING_SECRET, NOTIFY_WEBHOOK_URL: `${receiver.url}?token=5521` };
  app = await startApp({ redisUrl: redis.url, role: 'console', environment });
});
afterEach(async () => {
  await app.stop();
  await receiver.close();
});

test('shows what the channels lack, without their addresses and secrets, to ops alone', async () => {
  const answer = await api(app).get('/api/notifications').expect(200);
  const { channels } = notificationsView.parse(answer.body);
  expect(channels.mail).toMatchObject({ missing: ['NOTIFY_SMTP_URL', 'NOTIFY_MAIL_FROM'], is_used: false });
  expect(channels.webhook).toMatchObject({ missing: [], is_used: true });
  expect(answer.text).not.toMatch(/5521|whsec/);
  const dispatcher = api(app, await newKey(app, 'dispatcher'));
  await dispatcher.get('/api/notifications').expect(403);
  await dispatcher.post('/api/notifications/test').send({ channel: 'webhook' }).expect(403);
});

test('sends a test notice, answers with what became of it, and audits it with its channel', async () => {
  const sara = api(app, await newKey(app, 'ops', 'Sara'));
  const send = async (channel: string) =>
    testNoticeView.parse((await sara.post('/api/notifications/test').send({ channel }).expect(200)).body);
  const entries = await entriesOf(app, async () => {
    expect(await send('webhook')).toEqual({ delivered: true, problem: null });
    receiver.answers.status = 500;
    expect(await send('webhook')).toEqual({ delivered: false, problem: 'http_500' });
    expect(await send('mail')).toEqual({ delivered: false, problem: 'not_configured' });
  });
  const entry = { action: 'notifications.tested', by: 'Sara', on: {}, why: null, what: { channel: 'webhook' } };
  expect(entries).toMatchObject([entry, entry]);
});

test('lists the alarms that hold, and does all of it from the command line', async () => {
  const { items } = alarmPage.parse((await api(app).get('/api/alarms').expect(200)).body);
  expect(items.filter(({ kind }) => kind === 'noProcess')).not.toEqual([]);
  const towhook = (...words: readonly string[]) => run(words, { url: app.consoleUrl, apiKey: app.apiKey });
  expect((await towhook('alarm', 'list')).out).toContain('No worker is running');
  expect((await towhook('notifications', 'show')).out).toMatch(/mail missing: +NOTIFY_SMTP_URL, NOTIFY_MAIL_FROM/);
  const tested = await towhook('notifications', 'test', 'mail');
  expect([tested.exitCode, tested.out]).toEqual([1, expect.stringContaining('not_configured')]);
});
