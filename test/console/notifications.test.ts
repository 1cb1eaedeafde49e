import { messagesIn } from '../../src/console/messages';
import { ALARM_KINDS } from '../../src/domain/notification-settings';
import { createNotificationStore } from '../../src/store/notification-record';
import { useApp } from '../support/app';
import { announcedIncident, noticeReceiver, SIGNING_SECRET } from '../support/notifications';
import { newKey } from '../operator/client';
import { signedIn, textOf } from './visitor';

const app = useApp({ role: 'console', environment: { NOTIFY_WEBHOOK_SECRET: SIGNING_SECRET } });
const { notifications: messages, common } = messagesIn('en');
const PATH = '/ops/notifications';
const store = () => createNotificationStore(app.foundation.redis);

/** The form as a browser sends it: every field, and a mark for each kind of alarm that is sent. */
function form(changes: Readonly<Record<string, string>> = {}, announced: readonly string[] = ALARM_KINDS) {
  const fields = new URLSearchParams({
    language: 'en',
    webhook_url: '',
    mail_to: '',
    escalate_to: '',
    escalate_after_minutes: '15',
    quiet_from: '',
    quiet_to: '',
    time_zone: 'Asia/Riyadh',
    quiet_severities: 'wait',
    ...changes,
  });
  for (const kind of announced) fields.append('announced', kind);
  return fields;
}

test('saves what is entered, shows it again, and takes the configuration back', async () => {
  const visitor = await signedIn(app);
  expect(textOf((await visitor.get(PATH)).html)).toContain(messages.sources.configuration);
  const entered = { mail_to: 'one@towing.example, two@towing.example', quiet_from: '22:00', quiet_to: '06:00' };
  const saved = await visitor.post(PATH, form(entered, ALARM_KINDS.slice(1)));
  expect([saved.status, saved.location]).toEqual([303, PATH]);
  expect((await store().read()).settings).toMatchObject({
    mail_to: ['one@towing.example', 'two@towing.example'],
    quiet_from: '22:00',
    quiet_to: '06:00',
    webhook_url: null,
    muted_alarms: ALARM_KINDS.slice(0, 1),
  });
  const { html } = await visitor.get(PATH);
  expect(html).toContain('value="one@towing.example, two@towing.example"');
  expect(html).toContain('value="22:00"');
  expect(html).not.toContain(SIGNING_SECRET);
  await visitor.post(`${PATH}/reset`);
  expect((await store().read()).settings).toBeNull();
});

test('accepts minutes in Arabic digits', async () => {
  const visitor = await signedIn(app);
  await visitor.get(PATH);
  expect((await visitor.post(PATH, form({ escalate_after_minutes: '٢٠' }))).status).toBe(303);
  expect((await store().read()).settings).toMatchObject({ escalate_after_minutes: 20 });
});

test('says that an empty time until escalation is required, and saves nothing', async () => {
  const visitor = await signedIn(app);
  await visitor.get(PATH);
  const { status, html } = await visitor.post(PATH, form({ escalate_after_minutes: ' ' }));
  expect(status).toBe(422);
  expect(textOf(html)).toContain(`${messages.fields.escalate_after_minutes} : is required`);
  expect((await store().read()).settings).toBeNull();
});

test('refuses settings that another administrator has changed meanwhile, and shows both', async () => {
  const [first, second] = [await signedIn(app), await signedIn(app)];
  for (const visitor of [first, second]) await visitor.get(PATH);
  expect((await first.post(PATH, form({ mail_to: 'first@towing.example' }))).status).toBe(303);
  const { status, html } = await second.post(PATH, form({ escalate_to: 'second@towing.example' }, []));
  expect(status).toBe(409);
  expect(textOf(html)).toContain(messagesIn('en').refusals.changed_meanwhile);
  expect(textOf(html)).toContain('second@towing.example');
  expect(html).toContain('value="first@towing.example"');
  expect((await store().read()).settings).toMatchObject({ mail_to: ['first@towing.example'], escalate_to: [] });
  const again = form({ mail_to: 'first@towing.example', escalate_to: 'second@towing.example' });
  expect((await second.post(PATH, again)).status).toBe(303);
});

test('names the broken rule at its field, in Arabic as well, and keeps what was entered', async () => {
  const visitor = await signedIn(app);
  visitor.cookies.set('towhook_language', 'ar');
  await visitor.get(PATH);
  const { status, html } = await visitor.post(PATH, form({ mail_to: 'not an address', time_zone: 'Mars' }));
  expect(status).toBe(422);
  const { rules } = messagesIn('ar');
  expect(textOf(html)).toContain(rules.mail_address_named({ values: 'not' }));
  expect(textOf(html)).toContain(rules.time_zone);
  expect(html).toContain('value="not an address"');
  expect((await store().read()).settings).toBeNull();
});

test('names each wrong mail address once', async () => {
  const visitor = await signedIn(app);
  await visitor.get(PATH);
  const { html } = await visitor.post(PATH, form({ mail_to: 'one@towing.example, two.example; three, two.example' }));
  const [problem = ''] = /<div class="problem"[^]*?<\/div>/.exec(html) ?? [];
  const named = ['two.example', 'three'].map((each) => `Mail addresses : “${each}” must be a mail address`);
  expect(textOf(problem)).toBe(`Not done Check these fields: ${named.join(' ')}`);
});

test('shows what became of a test message', async () => {
  const receiver = await noticeReceiver();
  try {
    const visitor = await signedIn(app);
    await visitor.get(PATH);
    await visitor.post(PATH, form({ webhook_url: receiver.url }, []));
    await visitor.get(PATH);
    const channel = messages.channels.webhook;
    const delivered = await visitor.post(`${PATH}/test`, { channel: 'webhook' });
    expect(textOf(delivered.html)).toContain(messages.testDelivered({ channel }));
    receiver.answers.status = 404;
    const failed = textOf((await visitor.post(`${PATH}/test`, { channel: 'webhook' })).html);
    expect(failed).toContain(messages.testFailed({ channel }));
    expect(failed).toContain('the server answered HTTP 404 ( http_404 )');
  } finally {
    await receiver.close();
  }
});

test('acknowledges an announced alarm on the page of ops, once and for everyone', async () => {
  await store().advance(({ state }) => ({ ...state, incidents: [announcedIncident()] }));
  const reader = await signedIn(app, await newKey(app, 'viewer'));
  expect((await reader.get('/ops')).html).not.toContain('/ops/alarms/');
  const visitor = await signedIn(app);
  expect((await visitor.get('/ops')).html.split('/ops/alarms/')).toHaveLength(2);
  const { status, location } = await visitor.post('/ops/alarms/a1/acknowledge', { reason: 'on my way' });
  expect([status, location]).toEqual([303, '/ops']);
  const { html } = await visitor.get('/ops');
  expect(textOf(html)).toContain(common.done.acknowledged);
  expect(html).not.toContain('/ops/alarms/');
  expect(textOf((await reader.get('/ops')).html)).toContain(messages.acknowledgedBy({ name: 'bootstrap' }));
});

test('is for the role ops alone', async () => {
  const dispatcher = await signedIn(app, await newKey(app, 'dispatcher'));
  expect((await dispatcher.get(PATH)).status).toBe(403);
});
