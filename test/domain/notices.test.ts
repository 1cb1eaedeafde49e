import {
  acknowledge,
  addressesOf,
  afterAttempt,
  evaluateAlarms,
  CHANNEL_FAILS_AFTER_MS,
  dueNotices,
  END_HOLD_MS,
  failingChannels,
  GIVE_UP_MS,
  NO_NOTIFICATIONS,
  NOTICES_MAX,
  STALL_END_HOLD_MS,
  START_HOLD_MS,
  type NotificationState,
  type ObservedAlarm,
} from '../../src/domain/notices';
import type { NoticeChannel, NotificationSettings } from '../../src/domain/notification-settings';
import { MINUTE_MS } from '../../src/domain/timestamp';
import { NO_RECEIVER, observedAlarm } from '../support/notifications';

/** 12:00 in Riyadh. */
const NOON = Date.UTC(2026, 10, 22, 9);
const SETTINGS = { ...NO_RECEIVER, webhook_url: 'http://receiver.example', mail_to: ['one@towing.example'] };

/** A watch with a clock of its own. `sent` are the notices since the last call; all are delivered at once. */
function watch({ settings = SETTINGS, channels = ['webhook'], atMs = NOON }: Partial<Watched> = {}) {
  let state: NotificationState = NO_NOTIFICATIONS;
  let nowMs = atMs;
  let ids = 0;
  return {
    look: (afterMs: number, ...observed: ObservedAlarm[]): string[] => {
      nowMs += afterMs;
      state = evaluateAlarms(state, { observed, settings, channels, nowMs, newId: () => `a${(ids += 1)}` });
      const due = dueNotices(state, nowMs);
      for (const notice of due) {
        state = afterAttempt(state, notice, { outcome: { kind: 'delivered', problem: null }, nowMs, jitter: 0 });
      }
      return due.map(({ id, channel, to }) => [id, ...(channel === 'mail' ? ['mail', ...to] : [])].join(' '));
    },
    acknowledge(id: string) {
      state = acknowledge(state, id, { by: 'Sara', atMs: nowMs }) ?? state;
    },
    get state() {
      return state;
    },
  };
}

interface Watched {
  readonly settings: NotificationSettings;
  readonly channels: readonly NoticeChannel[];
  readonly atMs: number;
}

const outage = observedAlarm();
const check = observedAlarm({ key: 'queuePaused:reports', kind: 'queuePaused', severity: 'wait' });

test('announces an alarm once when it has lasted for the hold, and its end once when it was gone for the hold', () => {
  const { look } = watch();
  expect(look(0, outage)).toEqual([]);
  expect(look(START_HOLD_MS - 1, outage)).toEqual([]);
  expect(look(1, outage)).toEqual(['a1.started']);
  expect(look(60 * MINUTE_MS, { ...outage, title: 'The service is still down.' })).toEqual(['a1.escalated']);
  expect(look(MINUTE_MS, outage)).toEqual([]);
  expect(look(1000)).toEqual([]);
  expect(look(END_HOLD_MS)).toEqual(['a1.ended']);
  expect(look(END_HOLD_MS)).toEqual([]);
});

/** The alarms of a process that is not ready: at first for want of disk, then Redis takes no writes, too. */
const unready = observedAlarm({ key: 'unready:worker:host', kind: 'unready', severity: 'wait', title: 'Disk full.' });
const withoutRedis: ObservedAlarm = { ...unready, severity: 'bad', title: 'Redis takes no writes.' };

test('announces an alarm again whose severity rises for the hold, with ids of their own, and escalates it again', () => {
  const settings = { ...SETTINGS, escalate_to: ['chief@towing.example'] };
  const watched = watch({ settings });
  watched.look(0, unready);
  expect(watched.look(START_HOLD_MS, unready)).toEqual(['a1.started']);
  expect(watched.look(15 * MINUTE_MS, unready)).toEqual(['a1.escalated']);
  watched.acknowledge('a1');
  expect(watched.look(0, withoutRedis)).toEqual([]);
  expect(watched.look(START_HOLD_MS - 1, unready)).toEqual([]);
  expect(watched.look(0, withoutRedis)).toEqual([]);
  expect(watched.look(START_HOLD_MS, withoutRedis)).toEqual(['a1.started.bad']);
  expect(watched.state.incidents).toMatchObject([{ severity: 'bad', title: withoutRedis.title, acknowledged: null }]);
  expect(watched.look(15 * MINUTE_MS, withoutRedis)).toEqual(['a1.escalated.bad']);
  expect(watched.look(HOUR, unready)).toEqual([]);
  expect(watched.look(HOUR, withoutRedis)).toEqual([]);
  watched.look(0);
  expect(watched.look(END_HOLD_MS)).toEqual(['a1.ended']);
});

test('drops the start of an alarm that became worse before it was delivered: it would arrive behind the worse one', () => {
  let state: NotificationState = NO_NOTIFICATIONS;
  const look = (nowMs: number, alarm: ObservedAlarm) => {
    const view = { observed: [alarm], settings: SETTINGS, channels: ['webhook'] as const, nowMs, newId: () => 'a1' };
    state = evaluateAlarms(state, view);
    return state.notices.map(({ id }) => id);
  };
  look(NOON, unready);
  expect(look(NOON + START_HOLD_MS, unready)).toEqual(['a1.started']);
  look(NOON + START_HOLD_MS, withoutRedis);

  expect(look(NOON + 2 * START_HOLD_MS, withoutRedis)).toEqual(['a1.started.bad']);
});

test('announces the severity that an alarm has at the end of the hold', () => {
  const watched = watch();
  watched.look(0, unready);
  expect(watched.look(START_HOLD_MS, withoutRedis)).toEqual(['a1.started']);
  expect(watched.state.incidents).toMatchObject([{ severity: 'bad', title: withoutRedis.title }]);
});

test('sends nothing for an alarm that ends within the hold, and one pair of notices for an alarm that flaps', () => {
  const short = watch();
  short.look(0, outage);
  expect(short.look(START_HOLD_MS - 1)).toEqual([]);
  expect(short.look(END_HOLD_MS)).toEqual([]);
  expect(short.state.incidents).toEqual([]);

  const flapping = watch();
  const sent = Array.from({ length: 40 }, (_, at) => flapping.look(10_000, ...(at % 2 === 0 ? [outage] : []))).flat();
  expect(sent).toEqual(['a1.started']);
  expect([...flapping.look(10_000), ...flapping.look(END_HOLD_MS)]).toEqual(['a1.ended']);
});

test('announces a stalled worker at once, and as one alarm while it stalls again after each restart', () => {
  const { look } = watch();
  const stalled = observedAlarm({ key: 'workerStalled', kind: 'workerStalled' });
  const sent = Array.from({ length: 18 }, (_, at) => look(10_000, ...(at % 9 === 0 ? [stalled] : []))).flat();
  expect(sent).toEqual(['a1.started']);
  expect(look(STALL_END_HOLD_MS)).toEqual(['a1.ended']);
});

test('announces each alarm by itself, and again with a new id when it returns after its end', () => {
  const { look } = watch();
  look(0, outage, check);
  expect(look(START_HOLD_MS, outage, check)).toEqual(['a1.started', 'a2.started']);
  look(1000, outage);
  expect(look(END_HOLD_MS, outage)).toEqual(['a2.ended']);
  look(1000, outage, check);
  expect(look(START_HOLD_MS, outage, check)).toEqual(['a3.started']);
});

test('escalates to the second addresses once, unless the alarm was acknowledged, and tells all of them its end', () => {
  const settings = { ...SETTINGS, escalate_to: ['chief@towing.example', 'one@towing.example'] };
  const { look } = watch({ settings, channels: ['mail'] });
  look(0, outage);
  expect(look(START_HOLD_MS, outage)).toEqual(['a1.started mail one@towing.example']);
  expect(look(15 * MINUTE_MS - 1, outage)).toEqual([]);
  expect(look(1, outage)).toEqual(['a1.escalated mail chief@towing.example one@towing.example']);
  expect(look(15 * MINUTE_MS, outage)).toEqual([]);
  look(0);
  expect(look(END_HOLD_MS)).toEqual(['a1.ended mail one@towing.example chief@towing.example']);

  const calm = watch({ settings, channels: ['mail'] });
  calm.look(0, outage);
  calm.look(START_HOLD_MS, outage);
  calm.acknowledge('a1');
  expect(calm.look(60 * MINUTE_MS, outage)).toEqual([]);
  expect(calm.state.incidents[0]?.acknowledged?.by).toBe('Sara');
});

test('takes the first acknowledgement of an announced alarm, and none before its start', () => {
  const { look, state: before } = watch();
  expect(acknowledge(before, 'a1', { by: 'Sara', atMs: NOON })).toBeNull();
  const watched = watch();
  watched.look(0, outage);
  expect(acknowledge(watched.state, 'a1', { by: 'Sara', atMs: NOON })).toBeNull();
  watched.look(START_HOLD_MS, outage);
  const first = acknowledge(watched.state, 'a1', { by: 'Sara', atMs: NOON });
  expect(first && acknowledge(first, 'a1', { by: 'Omar', atMs: NOON })).toBe(first);
  expect(look(0)).toEqual([]);
});

/** 21:00 in Riyadh, an hour before the quiet hours. */
const EVENING = Date.UTC(2026, 10, 22, 18);
const NIGHT = { ...SETTINGS, quiet_from: '22:00', quiet_to: '06:00' };
const HOUR = 60 * MINUTE_MS;

test('holds back lesser alarms in quiet hours, and sends what still holds in one summary at their end', () => {
  const { look } = watch({ settings: NIGHT, atMs: EVENING });
  const other = { ...check, key: 'conservationCheckOld', kind: 'conservationCheckOld' as const };
  const gone = { ...check, key: 'failing', kind: 'failing' as const };
  look(2 * HOUR, check, other, gone, outage);
  expect(look(START_HOLD_MS, check, other, gone, outage)).toEqual(['a4.started']);
  look(HOUR, check, other);
  expect(look(END_HOLD_MS, check, other)).toEqual(['a4.ended']);
  expect(look(6 * HOUR - START_HOLD_MS - END_HOLD_MS - 1, check, other)).toEqual([]);
  expect(look(1, check, other)).toEqual(['a5.summary']);
  expect(look(1000, check, other)).toEqual([]);
  look(1000, check);
  expect(look(END_HOLD_MS, check)).toEqual(['a2.ended']);
});

test('announces in quiet hours an alarm that they held back when its severity rises, unless they hold that back, too', () => {
  const night = watch({ settings: NIGHT, atMs: EVENING });
  night.look(2 * HOUR, unready);
  expect(night.look(START_HOLD_MS, unready)).toEqual([]);
  night.look(MINUTE_MS, withoutRedis);
  expect(night.look(START_HOLD_MS, withoutRedis)).toEqual(['a1.started.bad']);

  const silent = watch({ settings: { ...NIGHT, quiet_severities: ['wait', 'bad'] }, atMs: EVENING });
  silent.look(0, unready);
  expect(silent.look(START_HOLD_MS, unready)).toEqual(['a1.started']);
  silent.look(HOUR, withoutRedis);
  expect(silent.look(START_HOLD_MS, withoutRedis)).toEqual([]);
  expect(silent.look(8 * HOUR, withoutRedis)).toEqual(['a2.summary']);
  silent.look(1000);
  expect(silent.look(END_HOLD_MS)).toEqual(['a1.ended']);
});

test('sends the end of an announced alarm after the quiet hours, and nothing if it returned in them', () => {
  const { look } = watch({ settings: NIGHT, atMs: EVENING });
  look(0, check);
  expect(look(START_HOLD_MS, check)).toEqual(['a1.started']);
  look(2 * HOUR);
  expect(look(END_HOLD_MS)).toEqual([]);
  expect(look(HOUR)).toEqual([]);
  expect(look(HOUR, check)).toEqual([]);
  look(HOUR);
  expect(look(5 * HOUR)).toEqual(['a1.ended']);
});

test('has no notices for muted kinds, and drops what waits when its channel is no longer used', () => {
  expect(watch({ settings: { ...SETTINGS, muted_alarms: ['outage'] } }).look(0, outage)).toEqual([]);
  const seen = evaluateAlarms(NO_NOTIFICATIONS, evaluationAt(NOON));
  const owed = evaluateAlarms(seen, evaluationAt(NOON + START_HOLD_MS));
  expect(owed.notices.map(({ channel }) => channel)).toEqual(['webhook', 'mail']);
  const left = evaluateAlarms(owed, { ...evaluationAt(NOON + START_HOLD_MS), channels: ['mail'] });
  expect(left.notices.map(({ channel }) => channel)).toEqual(['mail']);
  const muted = { ...SETTINGS, muted_alarms: ['outage' as const] };
  expect(evaluateAlarms(owed, { ...evaluationAt(NOON + START_HOLD_MS), settings: muted }).incidents).toEqual([]);
});

function evaluationAt(nowMs: number) {
  const channels: NoticeChannel[] = ['webhook', 'mail'];
  return { observed: [outage], settings: SETTINGS, channels, nowMs, newId: () => 'a1' };
}

test('changes nothing, and so writes nothing, while alarms stay as they are', () => {
  const seen = evaluateAlarms(NO_NOTIFICATIONS, evaluationAt(NOON));
  expect(evaluateAlarms(seen, evaluationAt(NOON + 1000))).toBe(seen);
  expect(evaluateAlarms(NO_NOTIFICATIONS, { ...evaluationAt(NOON), observed: [] })).toBe(NO_NOTIFICATIONS);
});

test('repeats a failed notice with growing waits up to five minutes, keeps its order, and gives it up after a day', () => {
  const settled = (state: NotificationState, nowMs: number) => {
    const [notice] = dueNotices(state, nowMs);
    const outcome = { kind: 'failed' as const, problem: 'http_500' };
    return notice === undefined ? state : afterAttempt(state, notice, { outcome, nowMs, jitter: 0 });
  };
  const webhook = { channels: ['webhook' as const] };
  let state = evaluateAlarms(NO_NOTIFICATIONS, { ...evaluationAt(NOON), ...webhook });
  let nowMs = NOON + START_HOLD_MS;
  state = evaluateAlarms(state, { ...evaluationAt(nowMs), ...webhook });
  const waits = Array.from({ length: 8 }, () => {
    state = settled(state, nowMs);
    const waitMs = (state.notices[0]?.nextAtMs ?? 0) - nowMs;
    nowMs += waitMs;
    return waitMs / 1000;
  });
  expect(waits).toEqual([5, 10, 20, 40, 80, 160, 300, 300]);
  expect(state.channels.webhook).toMatchObject({ deliveredAtMs: null, problem: 'http_500' });

  for (const laterMs of [0, END_HOLD_MS])
    state = evaluateAlarms(state, { ...evaluationAt(nowMs + laterMs), ...webhook, observed: [] });
  expect(state.notices.map(({ id }) => id)).toEqual(['a1.started', 'a1.ended']);
  expect(dueNotices(state, nowMs + END_HOLD_MS).map(({ id }) => id)).toEqual(['a1.started']);
  state = settled(state, NOON + START_HOLD_MS + GIVE_UP_MS);
  expect(state.notices.map(({ id }) => id)).toEqual(['a1.ended']);
});

test('sends an escalation while mail to the first addresses is refused, and mail to corrected addresses', () => {
  const settings = { ...SETTINGS, mail_to: ['typo@towing.example'], escalate_to: ['chief@towing.example'] };
  const view = { observed: [outage], settings, channels: ['mail' as const], newId: () => 'a1' };
  const startedMs = NOON + START_HOLD_MS;
  const escalatedMs = startedMs + 15 * MINUTE_MS;
  let state = evaluateAlarms(NO_NOTIFICATIONS, { ...view, nowMs: NOON });
  state = evaluateAlarms(state, { ...view, nowMs: startedMs });
  const failed = { outcome: { kind: 'failed' as const, problem: 'EENVELOPE_550' }, nowMs: startedMs, jitter: 0 };
  state = afterAttempt(state, { id: 'a1.started', channel: 'mail' }, failed);
  state = evaluateAlarms(state, { ...view, nowMs: escalatedMs });
  const due = dueNotices(state, escalatedMs);
  expect(due.map(({ id }) => id)).toEqual(['a1.started', 'a1.escalated']);

  const corrected = { ...settings, mail_to: ['one@towing.example'] };
  expect(due.map((notice) => addressesOf(notice, corrected))).toEqual([corrected.mail_to, settings.escalate_to]);
  const without = evaluateAlarms(state, { ...view, settings: { ...settings, mail_to: [] }, nowMs: escalatedMs });
  expect(without.notices.map(({ id }) => id)).toEqual(['a1.escalated']);
});

test('an alarm is neither announced nor escalated while no channel has a receiver for that', () => {
  const chiefs = { ...NO_RECEIVER, escalate_to: ['chief@towing.example'] };
  const escalations = watch({ settings: chiefs, channels: ['mail'] });
  escalations.look(0, outage);
  expect(escalations.look(START_HOLD_MS, outage)).toEqual([]);
  expect(escalations.state.incidents).toMatchObject([{ isAnnounced: false }]);
  expect(escalations.look(15 * MINUTE_MS, outage)).toEqual(['a1.escalated mail chief@towing.example']);

  const starts = watch({ settings: { ...NO_RECEIVER, mail_to: ['one@towing.example'] }, channels: ['mail'] });
  starts.look(0, outage);
  starts.look(START_HOLD_MS, outage);
  expect(starts.look(HOUR, outage)).toEqual([]);
  expect(starts.state.incidents).toMatchObject([{ isAnnounced: true, escalatedAtMs: null }]);
});

test('sends notices about a failing channel to the other channel only, also in a summary', () => {
  const failing = observedAlarm({ key: 'noticesFail:webhook', kind: 'noticesFail', failingChannel: 'webhook' });
  const both = watch({ channels: ['webhook', 'mail'] });
  both.look(0, failing, outage);
  expect(both.look(START_HOLD_MS, failing, outage)).toEqual([
    'a1.started mail one@towing.example',
    'a2.started',
    'a2.started mail one@towing.example',
  ]);
  const alone = watch();
  alone.look(0, failing);
  expect(alone.look(START_HOLD_MS, failing)).toEqual([]);

  const night = watch({ settings: NIGHT, channels: ['webhook', 'mail'], atMs: EVENING + 2 * HOUR });
  const held = [{ ...failing, severity: 'wait' as const }, check];
  night.look(0, ...held);
  night.look(START_HOLD_MS, ...held);
  expect(night.look(7 * HOUR, ...held)).toEqual(['a3.summary', 'a3.summary mail one@towing.example']);
});

test('a channel is failing when all its attempts failed for two minutes, until a delivery or until it is not used', () => {
  const seen = evaluateAlarms(NO_NOTIFICATIONS, evaluationAt(NOON));
  const owed = evaluateAlarms(seen, evaluationAt(NOON + START_HOLD_MS));
  const [notice] = owed.notices;
  const attempt = (state: NotificationState, nowMs: number, problem: string | null) => {
    const outcome = problem === null ? { kind: 'delivered' as const, problem } : { kind: 'failed' as const, problem };
    return notice === undefined ? state : afterAttempt(state, notice, { outcome, nowMs, jitter: 0 });
  };
  const failed = attempt(attempt(owed, NOON, 'http_500'), NOON + MINUTE_MS, 'http_503');
  const untilMs = NOON + CHANNEL_FAILS_AFTER_MS;
  expect(failingChannels(failed.channels, untilMs - 1)).toEqual([]);
  expect(failingChannels(failed.channels, untilMs)).toEqual([
    { channel: 'webhook', sinceMs: NOON, problem: 'http_503' },
  ]);
  expect(failingChannels(attempt(failed, untilMs, null).channels, untilMs)).toEqual([]);
  const unused = evaluateAlarms(failed, { ...evaluationAt(untilMs), channels: ['mail'] });
  expect(failingChannels(unused.channels, untilMs)).toEqual([]);
});

test('keeps at most 500 notices that cannot be delivered, the newest', () => {
  const many = Array.from({ length: NOTICES_MAX + 3 }, (_, at) => observedAlarm({ key: `silent:worker:host-${at}` }));
  let ids = 0;
  const view = { settings: SETTINGS, channels: ['webhook' as const], observed: many, newId: () => `a${(ids += 1)}` };
  const seen = evaluateAlarms(NO_NOTIFICATIONS, { ...view, nowMs: NOON });
  const { notices } = evaluateAlarms(seen, { ...view, nowMs: NOON + START_HOLD_MS });
  expect(notices).toHaveLength(NOTICES_MAX);
  expect(notices.at(-1)?.id).toBe(`a${NOTICES_MAX + 3}.started`);
});
