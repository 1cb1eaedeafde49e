import type { Redis } from 'ioredis';
import { END_HOLD_MS, START_HOLD_MS, type ObservedAlarm } from '../../src/domain/ops/notices';
import { createMailSender } from '../../src/notify/mail';
import { createWebhookSender } from '../../src/notify/webhook';
import { systemClock } from '../../src/platform/clock';
import { createMetrics } from '../../src/platform/log/metrics';
import type { Repetition } from '../../src/platform/timers';
import { connectFailFast, whenReady } from '../../src/store/redis/connect';
import { createLocks } from '../../src/store/redis/locks';
import { createNotificationStore } from '../../src/store/ops/notification-record';
import type { NotificationStore } from '../../src/workflow/ops/notifications';
import { watchAlarms } from '../../src/workflow/ops/watch-alarms';
import { silentLog } from '../../src/platform/log/log';
import { eventually } from '../support/eventually';
import { agedBy, NO_RECEIVER, noticeReceiver, observedAlarm, SIGNING_SECRET } from '../support/notifications';
import { useRedis, withoutTimeouts } from '../support/redis';

const redis = useRedis();
let receiver: Awaited<ReturnType<typeof noticeReceiver>>;
let alarms: readonly ObservedAlarm[];
/** Of the test, beside those of the watches. */
let store: NotificationStore;
const connections: Redis[] = [];
const watches: Repetition[] = [];

beforeEach(async () => {
  receiver = await noticeReceiver();
  alarms = [];
  const connection = connect();
  await whenReady(connection, 30_000);
  store = createNotificationStore(connection);
});
afterEach(async () => {
  await receiver.close();
  await Promise.all(watches.splice(0).map((watch) => watch.stop()));
  for (const connection of connections.splice(0)) connection.disconnect();
});

function connect(): Redis {
  const connection = connectFailFast(redis.url, { log: silentLog });
  withoutTimeouts(connection);
  connections.push(connection);
  return connection;
}

/** The watch of a process with its own connection. `lockMs`: after its death another one takes over. */
function startWatch(lockMs = 30_000): { readonly connection: Redis } {
  const connection = connect();
  const locks = createLocks(connection, systemClock);
  const watch = watchAlarms(
    {
      store: createNotificationStore(connection),
      senders: {
        webhook: createWebhookSender({
          webhook: { format: 'standard', secret: SIGNING_SECRET, proxyUrl: null, caFile: null },
          consoleUrl: null,
          clock: systemClock,
          textOf: () => ({ subject: '', text: '' }),
        }),
        mail: createMailSender(null, () => ({ subject: '', text: '' })),
      },
      settings: { ...NO_RECEIVER, webhookUrl: receiver.url },
      lock: { acquire: () => locks.acquire('notifications', lockMs) },
      observe: () => Promise.resolve(alarms),
      clock: systemClock,
      log: silentLog,
      metrics: createMetrics(),
    },
    10,
  );
  watches.push(watch);
  return { connection };
}

/** Lets the time of the stored alarms pass. */
async function pass(ms: number): Promise<void> {
  await store.advance((state) => agedBy(state, ms));
}

const stateOf = async () => await store.read();

/** Raises the alarm and lets its hold pass. */
async function raise(): Promise<string> {
  alarms = [observedAlarm()];
  const [{ id } = { id: '' }] = await eventually(async () => {
    const { incidents } = await stateOf();
    expect(incidents).toHaveLength(1);
    return incidents;
  });
  await pass(START_HOLD_MS);
  return id;
}

test('sends each start and each end of an alarm once, with two processes that watch', async () => {
  startWatch();
  startWatch();
  const id = await raise();
  await eventually(() => expect(receiver.ids()).toContain(`${id}.started`));
  alarms = [];
  await eventually(async () => expect((await stateOf()).incidents[0]?.missingSinceMs).not.toBeNull());
  await pass(END_HOLD_MS);
  await eventually(() => expect(receiver.ids()).toContain(`${id}.ended`));
  await eventually(async () => expect(await stateOf()).toMatchObject({ incidents: [], notices: [] }));
  expect(receiver.ids()).toEqual([`${id}.started`, `${id}.ended`]);
});

test('sends a notice again with the same id when the process that was sending it is lost', async () => {
  receiver.answers.status = null;
  const lost = startWatch(1000);
  const id = await raise();
  await eventually(() => expect(receiver.ids()).toEqual([`${id}.started`]));
  lost.connection.disconnect();
  receiver.answers.status = 200;
  startWatch(1000);
  await eventually(async () => expect((await stateOf()).notices).toEqual([]));
  expect(receiver.ids()).toEqual([`${id}.started`, `${id}.started`]);
  expect((await stateOf()).channels.webhook).toMatchObject({ failingSinceMs: null, problem: null });
});

test('repeats a notice that the receiver refused until it accepts it', async () => {
  receiver.answers.status = 503;
  startWatch();
  const id = await raise();
  await eventually(async () => expect((await stateOf()).channels.webhook).toMatchObject({ problem: 'http_503' }));
  receiver.answers.status = 200;
  await pass(60_000);
  await eventually(async () => expect((await stateOf()).notices).toEqual([]));
  expect(receiver.ids()).toEqual([`${id}.started`, `${id}.started`]);
});
