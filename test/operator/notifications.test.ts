import { alarmPage, notificationsView, testNoticeView } from '../../src/contracts/notifications';
import { openNotifications } from '../../src/main/notifications';
import { createNotificationStore } from '../../src/store/notification-record';
import { changeNotificationSettings } from '../../src/workflow/notifications';
import { run } from '../cli/command';
import { useApp } from '../support/app';
import { announcedIncident, noticeReceiver, SIGNING_SECRET } from '../support/notifications';
import { TESTER } from '../support/stores';
import { api, entriesOf, errorOf, fieldsOf, newKey } from './client';

/** Without worker and receiver, so that two alarms hold. */
const app = useApp({
  role: 'console',
  environment: { NOTIFY_WEBHOOK_SECRET: SIGNING_SECRET, NOTIFY_ESCALATE_MINUTES: '7' },
});

/** Stores that the alarm about a missing worker was announced. */
async function announce(): Promise<void> {
  const store = createNotificationStore(app.foundation.redis);
  await store.advance(({ state }) => ({ ...state, incidents: [announcedIncident()] }));
}

const settings = async () => notificationsView.parse((await api(app).get('/api/notifications').expect(200)).body);

test('takes the settings of the configuration until a person changes one, and again after a reset', async () => {
  const { settings: configured, source, channels } = await settings();
  expect(source).toBe('configuration');
  expect(configured).toMatchObject({ escalate_after_minutes: 7, webhook_url: null, mail_to: [] });
  expect(channels.mail).toMatchObject({ missing: ['NOTIFY_SMTP_URL', 'NOTIFY_MAIL_FROM'], is_used: false });
  expect(channels.webhook).toMatchObject({ missing: [], is_used: false });

  const entries = await entriesOf(app, async () => {
    const changes = { webhook_url: 'https://chat.example/alarms?token=5521', mail_to: ['one@towing.example'] };
    const answer = await api(app).post('/api/notifications').send(changes).expect(202);
    const changed = notificationsView.parse(answer.body);
    expect(changed).toMatchObject({ source: 'person', settings: { ...configured, ...changes } });
    expect(changed.channels.webhook.is_used).toBe(true);
    expect(JSON.stringify(changed)).not.toContain(SIGNING_SECRET);
    await api(app).post('/api/notifications/reset').send({}).expect(202);
  });
  expect(entries).toMatchObject([
    { action: 'notifications.reset' },
    { action: 'notifications.changed', what: { fields: ['webhook_url', 'mail_to'] } },
  ]);
  expect(JSON.stringify(entries)).not.toMatch(/5521|towing\.example/);
  expect(await settings()).toMatchObject({ source: 'configuration', settings: configured });
});

test('refuses a change without a field, by API and by command, and keeps the settings of the configuration', async () => {
  const refused = await api(app).post('/api/notifications').send({}).expect(422);
  expect(fieldsOf(refused)).toEqual(['body']);
  const { exitCode, problems } = await run(['notifications', 'set'], { url: app.consoleUrl, apiKey: app.apiKey });
  expect([exitCode, problems]).toEqual([2, expect.stringContaining('notifications set needs at least one option')]);
  expect((await settings()).source).toBe('configuration');
});

test('refuses settings that break a rule, and everyone without the role ops', async () => {
  const wrong = {
    webhook_url: 'file:///etc/passwd',
    mail_to: ['one@towing.example', 'not an address'],
    time_zone: 'Riyadh',
    quiet_from: '25:00',
    muted_alarms: ['all'],
    smtp_url: 'smtp://mail.example',
  };
  const refused = await api(app).post('/api/notifications').send(wrong).expect(422);
  expect(fieldsOf(refused)).toEqual([
    'mail_to.1',
    'muted_alarms.0',
    'quiet_from',
    'smtp_url',
    'time_zone',
    'webhook_url',
  ]);
  expect((await settings()).source).toBe('configuration');
  const dispatcher = api(app, await newKey(app, 'dispatcher'));
  await dispatcher.get('/api/notifications').expect(403);
  await dispatcher.post('/api/notifications/test').send({ channel: 'webhook' }).expect(403);
  await dispatcher.post('/api/alarms/a1/acknowledge').send({}).expect(403);
});

test('refuses quiet hours with one end or two equal ones, also when only one end is changed', async () => {
  const post = (changes: object) => api(app).post('/api/notifications').send(changes);
  expect(fieldsOf(await post({ quiet_from: '22:00' }).expect(422))).toEqual(['quiet_to']);
  expect(fieldsOf(await post({ quiet_to: '06:00' }).expect(422))).toEqual(['quiet_from']);
  expect((await settings()).source).toBe('configuration');
  await post({ quiet_from: '22:00', quiet_to: '06:00' }).expect(202);
  expect(fieldsOf(await post({ quiet_from: null }).expect(422))).toEqual(['quiet_from']);
  const equal = await post({ quiet_from: '06:00', language: 'ar' }).expect(422);
  expect(errorOf(equal).details).toEqual([
    { field: 'quiet_to', rule: 'must differ from the start of the quiet hours' },
  ]);
  expect((await settings()).settings).toMatchObject({ quiet_from: '22:00', quiet_to: '06:00', language: 'en' });
  await post({ quiet_from: null, quiet_to: null }).expect(202);
});

test('refuses a change of settings that breaks the contract in a field of the configuration', async () => {
  const tools = openNotifications(app.foundation);
  const defaults = { ...tools.defaults, escalate_after_minutes: 1441 };
  const request = { changes: { language: 'ar' as const }, actor: TESTER, idempotency: undefined };
  const result = await changeNotificationSettings({ ...tools, defaults }, request);
  const details = [{ field: 'escalate_after_minutes', rule: 'must be at most 1440' }];
  expect(result).toMatchObject({ kind: 'refused', refusal: { kind: 'invalid', details } });
  expect((await settings()).source).toBe('configuration');
});

test('sends a test notice and answers with what became of it, without the body of the receiver', async () => {
  const receiver = await noticeReceiver();
  try {
    const test = async (channel: string) =>
      testNoticeView.parse((await api(app).post('/api/notifications/test').send({ channel }).expect(200)).body);
    expect(await test('webhook')).toEqual({ delivered: false, problem: 'not_configured' });
    await api(app).post('/api/notifications').send({ webhook_url: receiver.url }).expect(202);
    expect(await test('webhook')).toEqual({ delivered: true, problem: null });
    receiver.answers.status = 500;
    expect(await test('webhook')).toEqual({ delivered: false, problem: 'http_500' });
    const tests = receiver.received.filter(({ body }) => body.includes('"type":"test"'));
    expect(tests).toHaveLength(2);
    expect(await test('mail')).toEqual({ delivered: false, problem: 'not_configured' });
  } finally {
    await receiver.close();
  }
});

test('audits a test notice that was sent, with its channel and also if it failed', async () => {
  const receiver = await noticeReceiver();
  try {
    await api(app).post('/api/notifications').send({ webhook_url: receiver.url }).expect(202);
    const sara = api(app, await newKey(app, 'ops', 'Sara'));
    const test = (channel: string) => sara.post('/api/notifications/test').send({ channel }).expect(200);
    const entries = await entriesOf(app, async () => {
      await test('webhook');
      receiver.answers.status = 500;
      await test('webhook');
      await test('webhook');
      await test('mail');
    });
    const entry = { action: 'notifications.tested', by: 'Sara', on: {}, why: null, what: { channel: 'webhook' } };
    expect(entries).toMatchObject([entry, entry, entry]);
  } finally {
    await receiver.close();
  }
});

test('lists the alarms that hold, and takes one acknowledgement of an announced one', async () => {
  await announce();
  const items = alarmPage.parse((await api(app).get('/api/alarms').expect(200)).body).items;
  expect(items.filter(({ kind }) => kind === 'noProcess')).toMatchObject([
    { id: 'a1', severity: 'bad', acknowledged_by: null, announced_at: '1970-01-01T00:00:00.002Z' },
    { id: null, severity: 'bad', announced_at: null },
    { id: null, severity: 'bad', announced_at: null },
  ]);
  await api(app).post('/api/alarms/a2/acknowledge').send({}).expect(404);
  const sara = api(app, await newKey(app, 'ops', 'Sara'));
  const entries = await entriesOf(app, async () => {
    await sara.post('/api/alarms/a1/acknowledge').send({ reason: 'on my way' }).expect(202);
    const answer = await api(app).post('/api/alarms/a1/acknowledge').send({}).expect(202);
    expect(alarmPage.parse(answer.body).items[0]).toMatchObject({ id: 'a1', acknowledged_by: 'Sara' });
  });
  expect(entries).toMatchObject([
    { action: 'alarm.acknowledged', by: 'Sara', on: { alarm_id: 'a1' }, why: 'on my way' },
  ]);
});

test('does all of it from the command line', async () => {
  await announce();
  const towhook = (...words: readonly string[]) => run(words, { url: app.consoleUrl, apiKey: app.apiKey });
  expect((await towhook('alarm', 'acknowledge', 'a1')).out).toMatch(/a1 +bad .* bootstrap/);
  expect((await towhook('alarm', 'list')).out).toContain('No worker is running');
  const set = await towhook(
    'notifications',
    'set',
    '--mail-to',
    'a@b.example, c@d.example',
    '--quiet-from',
    '22:00',
    '--quiet-to',
    '06:00',
    '--json',
  );
  expect(notificationsView.parse(set.json()).settings).toMatchObject({
    mail_to: ['a@b.example', 'c@d.example'],
    quiet_from: '22:00',
    quiet_to: '06:00',
  });
  const noHours = ['--quiet-from', '', '--quiet-to', ''];
  const removed = await towhook('notifications', 'set', '--mail-to', '', ...noHours, '--json');
  expect(notificationsView.parse(removed.json()).settings).toMatchObject({ mail_to: [], quiet_from: null });
  expect((await towhook('notifications', 'reset')).out).toMatch(/settings of: +configuration/);
  expect((await towhook('notifications', 'show')).out).toMatch(/mail +no +NOTIFY_SMTP_URL, NOTIFY_MAIL_FROM/);
  const tested = await towhook('notifications', 'test', 'mail');
  expect([tested.exitCode, tested.out]).toEqual([1, expect.stringContaining('not_configured')]);
});

test('the command line names the option and the rule of one wrong item in a list', async () => {
  const towhook = (...words: readonly string[]) => run(words, { url: app.consoleUrl, apiKey: app.apiKey });
  const mail = await towhook('notifications', 'set', '--mail-to', 'a@b.example,no address');
  expect([mail.exitCode, mail.problems]).toEqual([2, expect.stringContaining('--mail-to must be a mail address')]);
  const muted = await towhook('notifications', 'set', '--muted-alarms', 'outage,all');
  expect([muted.exitCode, muted.problems]).toEqual([2, expect.stringContaining('--muted-alarms must be one of')]);
});
