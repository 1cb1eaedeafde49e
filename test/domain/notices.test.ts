import {
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
} from '../../src/domain/ops/notices';
import type { NoticeChannel, NotificationSettings } from '../../src/domain/ops/notification-settings';
import { MINUTE_MS } from '../../src/domain/timestamp';
import { NO_RECEIVER, observedAlarm, startNotice } from '../support/notifications';

/** 12:00 in Riyadh. */
const NOON = Date.UTC(2026, 10, 22, 9);
const SETTINGS = { ...NO_RECEIVER, webhookUrl: 'http://receiver.example', mailTo: ['one@towing.example'] };

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
      return due.map(({ id, channel }) => (channel === 'mail' ? `${id} mail` : id));
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

const HOUR = 60 * MINUTE_MS;
const outage = observedAlarm();
const check = observedAlarm({ key: 'queuePaused:reports', kind: 'queuePaused', severity: 'wait' });

test('announces an alarm once, reminds of it while it lasts, and announces its end once', () => {
  const watched = watch({ settings: { ...SETTINGS, remindMs: HOUR } });
  const { look } = watched;
  expect(look(0, outage)).toEqual([]);
  expect(look(START_HOLD_MS - 1, outage)).toEqual([]);
  expect(look(1, outage)).toEqual(['a1.started']);
  expect(look(HOUR - 1, outage)).toEqual([]);
  expect(look(1, { ...outage, title: 'The service is still down.' })).toEqual([
    `a1.reminded.${NOON + START_HOLD_MS + HOUR}`,
  ]);
  expect(watched.state.incidents).toMatchObject([{ title: 'The service is still down.' }]);
  expect(look(MINUTE_MS, outage)).toEqual([]);
  expect(look(HOUR, outage)).toHaveLength(1);
  expect(look(1000)).toEqual([]);
  expect(look(END_HOLD_MS)).toEqual(['a1.ended']);
  expect(look(END_HOLD_MS)).toEqual([]);
});

test('an alarm that came without a text, while no channel was used, gets the one that it is seen with', () => {
  const watched = watch();
  watched.look(0, { ...outage, title: '', todo: '' });
  watched.look(START_HOLD_MS, { ...outage, title: '', todo: '' });
  expect(watched.state.incidents).toMatchObject([{ title: '', todo: '' }]);
  expect(watched.look(1000, outage)).toEqual([]);
  expect(watched.state.incidents).toMatchObject([{ title: outage.title, todo: outage.todo }]);
});

test('never reminds without a time for it', () => {
  const { look } = watch({ settings: { ...SETTINGS, remindMs: 0 } });
  look(0, outage);
  expect(look(START_HOLD_MS, outage)).toEqual(['a1.started']);
  expect(look(1000 * HOUR, outage)).toEqual([]);
});

test('has no notices for severities and kinds that are not chosen, and drops what waits for a channel without use', () => {
  const bad = watch({ settings: { ...SETTINGS, severities: ['bad'] } });
  bad.look(0, outage, check);
  expect(bad.look(START_HOLD_MS, outage, check)).toEqual(['a1.started']);
  const muted = watch({ settings: { ...SETTINGS, mutedAlarms: ['outage'] } });
  muted.look(0, outage, check);
  expect(muted.look(START_HOLD_MS, outage, check)).toEqual(['a1.started']);
  expect(muted.state.incidents).toMatchObject([{ kind: 'queuePaused' }]);
  const notices = [startNotice({ channel: 'mail' }), startNotice()];
  const view = { observed: [], settings: SETTINGS, channels: ['webhook'] as const, nowMs: NOON, newId: () => 'a1' };
  expect(evaluateAlarms({ ...NO_NOTIFICATIONS, notices }, view).notices).toEqual([startNotice()]);
});

test('sends notices about a failing channel to the other channel only', () => {
  const { look } = watch({ channels: ['webhook', 'mail'] });
  const failing = observedAlarm({ key: 'noticesFail:webhook', kind: 'noticesFail', failingChannel: 'webhook' });
  look(0, failing);
  expect(look(START_HOLD_MS, failing)).toEqual(['a1.started mail']);
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

function evaluationAt(nowMs: number) {
  const channels: NoticeChannel[] = ['webhook', 'mail'];
  return { observed: [outage], settings: SETTINGS, channels, nowMs, newId: () => 'a1' };
}

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
