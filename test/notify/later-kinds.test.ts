import { alarmPage, notificationsView } from '../../src/contracts/notifications';
import { storedObject } from '../../src/contracts/stored';
import { START_HOLD_MS, UNKNOWN_END_HOLD_MS } from '../../src/domain/notices';
import { ALARM_KINDS } from '../../src/domain/notification-settings';
import { KEYS } from '../../src/store/keys';
import { signedIn, textOf } from '../console/visitor';
import { api, fieldsOf } from '../operator/client';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import {
  announcedIncident,
  NO_RECEIVER,
  noticeReceiver,
  SIGNING_SECRET,
  startNotice,
  type ReceivedNotice,
} from '../support/notifications';
import { lookAfter } from './look-after';

/** A later version has stored an alarm, a notice and a muted alarm of kinds that this one does not know. */

const app = useApp({ role: 'console', environment: { NOTIFY_WEBHOOK_SECRET: SIGNING_SECRET } });
let receiver: Awaited<ReturnType<typeof noticeReceiver>>;
beforeEach(async () => {
  receiver = await noticeReceiver();
  const [notice, [alarm]] = [startNotice(), startNotice().alarms];
  const settings = { ...NO_RECEIVER, webhook_url: receiver.url, muted_alarms: ['outage', 'moonlight'], later: 1 };
  const state = {
    incidents: [
      LATER,
      { ...LATER, id: 'a2', key: 'volcano:2', startedAtMs: null, isHeldBack: true },
      { ...LATER, id: 'a3', key: 'volcano:3', startedAtMs: null },
    ],
    notices: [{ ...notice, createdAtMs: Date.now(), alarms: [{ ...alarm, kind: 'volcano' }] }],
    channels: { webhook: null, mail: null },
  };
  const fields = { v: '1.later', settings: JSON.stringify(settings), state: JSON.stringify(state) };
  await app.foundation.redis.hset(KEYS.notifications, fields);
});
afterEach(() => receiver.close());

const LATER = {
  ...announcedIncident(),
  key: 'volcano:1',
  kind: 'volcano',
  title: 'The mountain smokes.',
  todo: 'Leave the yard.',
  later: { added: 1 },
};

const stored = async (field: 'settings' | 'state') =>
  storedObject.parse(JSON.parse((await app.foundation.redis.hget(KEYS.notifications, field)) ?? ''));
const change = (changes: object) => api(app).post('/api/notifications').send(changes);
/** The types of the notices about the alarms of the later version. */
const noticesAboutLater = () =>
  receiver.received
    .filter(({ body }) => body.includes('volcano'))
    .map((notice) => storedObject.parse(jsonOf(notice))['type']);
const jsonOf = ({ body }: ReceivedNotice): unknown => JSON.parse(body);

/** The ids of the alarms of the later version that the API lists, and whether the page shows their title. */
async function shown() {
  const { items } = alarmPage.parse((await api(app).get('/api/alarms').expect(200)).body);
  const { html } = await (await signedIn(app)).get('/ops');
  const ids = items.filter(({ kind }) => kind === 'volcano').map(({ id }) => id);
  return { ids, isOnPage: textOf(html).includes('The mountain smokes.') };
}

test('lists the announced alarm of a later version by its stored texts', async () => {
  const { items } = alarmPage.parse((await api(app).get('/api/alarms').expect(200)).body);
  const listed = { kind: 'volcano', severity: 'bad', title: 'The mountain smokes.', what_to_do: 'Leave the yard.' };
  expect(items).toContainEqual(expect.objectContaining({ ...listed, id: 'a1', acknowledged_by: null }));
  const { html } = await (await signedIn(app)).get('/ops');
  expect(textOf(html)).toContain('The mountain smokes.');
  expect(textOf(html)).toContain('Leave the yard.');
});

test('shows of the alarms of a later version only what a person can acknowledge, until then, and keeps all', async () => {
  expect(await shown()).toEqual({ ids: ['a1'], isOnPage: true });
  await api(app).post('/api/alarms/a1/acknowledge').send({}).expect(202);
  expect(await shown()).toEqual({ ids: [], isOnPage: false });
  expect((await stored('state'))['incidents']).toMatchObject([
    { id: 'a1', later: { added: 1 }, acknowledged: { by: 'bootstrap' } },
    { id: 'a2', isHeldBack: true },
    { id: 'a3', startedAtMs: null },
  ]);
});

test('a watch delivers the stored notice, and neither announces nor ends an alarm that it does not know', async () => {
  const longAgo = UNKNOWN_END_HOLD_MS - START_HOLD_MS;
  await lookAfter(app, longAgo);
  await eventually(() => expect(noticesAboutLater()).toEqual(['alarm.started']));
  expect((await stored('state'))['incidents']).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ key: 'volcano:1', kind: 'volcano', later: { added: 1 } }),
      expect.objectContaining({ key: 'volcano:2', kind: 'volcano', startedAtMs: null, isHeldBack: true }),
    ]),
  );
  await lookAfter(app, START_HOLD_MS);
  expect(JSON.stringify(await stored('state'))).not.toContain('volcano');
  expect(noticesAboutLater()).toEqual(['alarm.started']);
});

test('settings change without losing a muted kind of a later version, and a reset removes it', async () => {
  const kinds = async () => (await stored('settings'))['muted_alarms'];
  const changed = await change({ escalate_after_minutes: 20 }).expect(202);
  expect(notificationsView.parse(changed.body).settings.muted_alarms).toEqual(['outage', 'moonlight']);
  expect(await stored('settings')).toMatchObject({ escalate_after_minutes: 20, later: 1 });
  await change({ muted_alarms: [...ALARM_KINDS] }).expect(202);
  expect(await kinds()).toEqual([...ALARM_KINDS, 'moonlight']);
  await change({ muted_alarms: [] }).expect(202);
  expect(await kinds()).toEqual(['moonlight']);
  await api(app).post('/api/notifications/reset').send({}).expect(202);
  expect(await app.foundation.redis.hexists(KEYS.notifications, 'settings')).toBe(0);
});

test('refuses to mute an unknown kind', async () => {
  expect(fieldsOf(await change({ muted_alarms: ['eclipse'] }).expect(422))).toEqual(['muted_alarms.0']);
});

test('the page of the settings shows the muted kind, and saves without losing it', async () => {
  const visitor = await signedIn(app);
  const { html } = await visitor.get('/ops/notifications');
  expect(textOf(html)).toContain('moonlight');
  const form = new URLSearchParams({
    language: 'en',
    webhook_url: receiver.url,
    escalate_after_minutes: '15',
    time_zone: 'Asia/Riyadh',
    quiet_severities: 'wait',
  });
  for (const kind of ALARM_KINDS) form.append('announced', kind);
  expect((await visitor.post('/ops/notifications', form)).status).toBe(303);
  expect((await stored('settings'))['muted_alarms']).toEqual(['moonlight']);
});
