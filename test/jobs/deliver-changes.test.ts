import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { deliverChanges } from '../../jobs/deliver-changes';
import { CHANGE_FIELD } from '../../src/contracts/ops/changes';
import { newSubscriptionView, replayView, subscriptionView } from '../../src/contracts/ops/subscriptions';
import { newProgress } from '../../src/domain/ops/subscriptions';
import { createSubscriber } from '../../src/notify/subscriber';
import { silentLog } from '../../src/platform/log/log';
import { createLocks } from '../../src/store/redis/locks';
import { KEYS } from '../../src/store/keys';
import { createSubscriptionStore } from '../../src/store/ops/subscriptions';
import { lagMs } from '../../src/workflow/ops/subscriptions';
import { api, errorOf } from '../operator/client';
import { newTow, record } from '../operator/world';
import { useApp } from '../support/app';
import { changesIn } from '../support/changes';
import { portOf } from '../support/server-port';

/** The console records and no worker runs: the test runs the jobs, at times of its own. */
const app = useApp({ role: 'console', environment: { SUBSCRIPTION_PRIVATE_ADDRESSES: 'allow' } });

const message = z.object({
  type: z.string(),
  timestamp: z.string(),
  // That of a test is empty.
  data: z.looseObject({
    subject: z.object({ id: z.string() }).nullish(),
    sequence: z.number().nullish(),
  }),
});
type Received = z.output<typeof message> & { readonly id: string };

let receiver: Server;
let received: Received[];
let secret: string;
/** The status of the answer to each message. */
let answerTo: (got: Received) => number;
let nowMs: number;

beforeEach(async () => {
  received = [];
  answerTo = () => 204;
  nowMs = app.foundation.clock.nowMs();
  receiver = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const headers = z.record(z.string(), z.string()).parse(request.headers);
      // Throws when no signature is valid.
      new Webhook(secret).verify(text, headers);
      const got = { id: headers['webhook-id'] ?? '', ...message.parse(JSON.parse(text)) };
      const status = answerTo(got);
      if (status < 300) received.push(got);
      response.writeHead(status).end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
});
afterEach(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await once(receiver, 'close');
});

const HOUR_MS = 3_600_000;

async function subscribe(more: object = {}) {
  const body = { name: 'dispatch', url: `http://127.0.0.1:${portOf(receiver)}/changes`, ...more };
  const answer = await api(app).post('/api/subscriptions').send(body);
  expect([answer.status, answer.body]).toMatchObject([201, {}]);
  const made = newSubscriptionView.parse(answer.body);
  ({ secret } = made);
  return made.id;
}

/** Runs the job of a subscription. */
async function work(id: string, giveUpMs = 72 * HOUR_MS) {
  const { redis, clock } = app.foundation;
  const at = { ...clock, nowMs: () => nowMs, random: () => 0 };
  return deliverChanges(
    { subscription_id: id },
    {
      subscriptions: createSubscriptionStore(redis),
      changes: app.foundation.changes(),
      sendChange: createSubscriber({ allowsPrivate: true, proxyUrl: null, clock }),
      locks: createLocks(redis, clock),
      record: ({ id: subject }) => Promise.resolve({ the_record_of: subject }),
      giveUpMs,
      clock: at,
      log: silentLog,
    },
    () => false,
  );
}

async function shown(id: string) {
  const answer = await api(app).get('/api/subscriptions');
  return z
    .object({ items: z.array(subscriptionView) })
    .parse(answer.body)
    .items.find((item) => item.id === id);
}

const ofSubject = (id: string) => received.filter(({ data }) => data.subject?.id === id);
const numbersOf = (id: string) => ofSubject(id).map(({ data }) => data.sequence);

it('posts every change since its creation once, signed, with the cursor as its id, in the order of each subject', async () => {
  const before = await newTow(app);
  const id = await subscribe();
  const [one, other] = [await newTow(app), await newTow(app)];
  await record(app, one, 'started', 'detained');
  await work(id);

  expect(numbersOf(one)).toEqual([1, 2, 3]);
  expect(numbersOf(other)).toEqual([1]);
  expect(numbersOf(before)).toEqual([]);
  const stored = await changesIn(app.foundation.redis, one);
  expect(ofSubject(one).map(({ id: name, type, timestamp }) => [name, type, timestamp])).toEqual(
    stored.map(({ cursor, type, at }) => [cursor, type, at]),
  );
  const count = received.length;
  await work(id);
  expect(received).toHaveLength(count);
  expect(await shown(id)).toMatchObject({
    lag_seconds: 0,
    behind: [],
    last_answer: { http_status: 204, problem: null },
  });
});

it('is behind since the oldest change that was not accepted, however long ago the last one was that was', async () => {
  const { redis } = app.foundation;
  const [epoch = ''] = (await app.foundation.changes().now()).split('-');
  const ref = await newTow(app);
  const [requested] = await changesIn(redis, ref);
  const atMs = Date.parse(requested?.at ?? '');
  const lag = (progress: object) =>
    lagMs({ changes: app.foundation.changes() }, { ...newProgress(`${epoch}-1-0`, atMs), ...progress }, atMs + HOUR_MS);
  expect(await lag({})).toBeGreaterThanOrEqual(HOUR_MS);
  expect(await lag({})).toBeLessThan(2 * HOUR_MS);
  const behind = { [`tow:${ref}`]: { after: `${epoch}-1-0`, attempts: 1, nextAtMs: atMs, sinceMs: atMs - 7 } };
  expect(await lag({ cursor: requested?.cursor, behind })).toBe(HOUR_MS + 7);
});

it('sends changes of a later version, also after a failure', async () => {
  const id = await subscribe();
  const added = JSON.stringify(['crew.joined', 'crew', '7', 1, { shift: 'night' }]);
  await app.foundation.redis.xadd(KEYS.changes, '*', CHANGE_FIELD, added);
  answerTo = () => 500;
  await work(id);
  expect((await shown(id))?.behind).toMatchObject([{ subject: 'crew:7', attempts: 1 }]);
  answerTo = () => 204;
  nowMs += HOUR_MS;
  await work(id);
  expect(received).toMatchObject([
    { type: 'crew.joined', data: { subject: { id: '7' }, sequence: 1, shift: 'night' } },
  ]);
  expect((await shown(id))?.behind).toEqual([]);
});

it('sends the types that are wanted, with the record where that is wanted', async () => {
  const id = await subscribe({ types: ['fact.recorded'], include: 'record' });
  const ref = await newTow(app);
  await record(app, ref, 'started');
  await work(id);
  expect(received.map(({ type, data }) => [type, data['record']])).toEqual([['fact.recorded', { the_record_of: ref }]]);
  const since = new Date(app.foundation.clock.nowMs() - HOUR_MS).toISOString();
  const preview = await api(app).post(`/api/subscriptions/${id}/replay`).send({ since });
  expect(preview.body).toMatchObject({ changes: 1, is_complete: true });
});

it('keeps the order of a tow through failures, which hold back no other tow', async () => {
  const id = await subscribe();
  const [bad, good] = [await newTow(app), await newTow(app)];
  answerTo = ({ data }) => (data.subject?.id === bad ? 500 : 204);
  await work(id);
  await record(app, bad, 'started');
  await record(app, good, 'started');
  nowMs += 60_000;
  await work(id);
  expect([numbersOf(bad), numbersOf(good)]).toEqual([[], [1, 2]]);
  expect((await shown(id))?.behind).toMatchObject([{ subject: `tow:${bad}`, attempts: 2 }]);

  answerTo = () => 204;
  await record(app, bad, 'detained');
  nowMs += HOUR_MS;
  await work(id);
  expect(numbersOf(bad)).toEqual([1, 2, 3]);
  expect((await shown(id))?.behind).toEqual([]);
});

it('stops sending while the receiver fails for all, tries one change at a time, and goes on without a loss', async () => {
  const id = await subscribe();
  const refs = [];
  for (let count = 0; count < 12; count += 1) refs.push(await newTow(app));
  let asked = 0;
  answerTo = () => {
    asked += 1;
    return 503;
  };
  await work(id);
  const before = asked;
  expect((await shown(id))?.tried_again_at).not.toBeNull();
  await work(id);
  expect(asked).toBe(before);
  nowMs += 2 * HOUR_MS;
  await work(id);
  expect(asked).toBe(before + 1);

  answerTo = () => 204;
  for (let turn = 0; turn < 5; turn += 1) {
    nowMs += 2 * HOUR_MS;
    await work(id);
  }
  expect(refs.map((ref) => numbersOf(ref))).toEqual(refs.map(() => [1]));
});

it('sets a tow aside that fails for too long, with a task that names it, and pauses where nothing is accepted', async () => {
  const id = await subscribe();
  const [bad, good] = [await newTow(app), await newTow(app)];
  answerTo = ({ data }) => (data.subject?.id === bad ? 500 : 204);
  await work(id, 10 * HOUR_MS);
  nowMs += HOUR_MS;
  await record(app, good, 'started');
  await work(id, 10 * HOUR_MS);
  nowMs += 10 * HOUR_MS;
  await work(id, 10 * HOUR_MS);
  expect((await shown(id))?.behind).toEqual([]);
  const tasks = async () => JSON.stringify((await api(app).get('/api/tasks')).body);
  expect(await tasks()).toContain(`changes of tow:${bad}`);

  answerTo = () => 500;
  await record(app, good, 'detained');
  for (let count = 0; count < 6; count += 1) await newTow(app);
  await work(id, 10 * HOUR_MS);
  nowMs += 21 * HOUR_MS;
  await work(id, 10 * HOUR_MS);
  expect((await shown(id))?.paused_by).toBe('failure');
  expect(await tasks()).toContain('subscription_paused');
  await api(app).post(`/api/subscriptions/${id}/rotate`).send({ grace_hours: 1 }).expect(202);
  expect((await shown(id))?.paused_by).toBe('failure');
  expect(await tasks()).toContain('subscription_paused');

  answerTo = () => 204;
  await api(app).post(`/api/subscriptions/${id}/resume`).send({}).expect(202);
  nowMs = app.foundation.clock.nowMs() + HOUR_MS;
  await work(id, 10 * HOUR_MS);
  expect(await tasks()).not.toContain('subscription_paused');
  expect(numbersOf(good)).toContain(3);
});

it('sends nothing while it is paused, all of it after that, and again what is replayed', async () => {
  const id = await subscribe();
  await api(app).post(`/api/subscriptions/${id}/pause`).send({}).expect(202);
  const ref = await newTow(app);
  await work(id);
  expect(received).toEqual([]);
  await api(app).post(`/api/subscriptions/${id}/resume`).send({}).expect(202);
  await work(id);
  expect(numbersOf(ref)).toEqual([1]);

  const replay = async (body: object) => {
    const answer = await api(app).post(`/api/subscriptions/${id}/replay`).send(body);
    expect(answer.status).toBe(202);
    return replayView.parse(answer.body);
  };
  const since = new Date(app.foundation.clock.nowMs() - HOUR_MS).toISOString();
  const { changes } = await replay({ since });
  expect(changes).toBeGreaterThan(2);
  await work(id);
  expect(numbersOf(ref)).toEqual([1]);
  expect(await replay({ since, preview: false })).toMatchObject({ changes, preview: false });
  await work(id);
  expect(numbersOf(ref)).toEqual([1, 1]);
});

it('signs with both secrets while a rotation lasts, and tests the receiver', async () => {
  const id = await subscribe();
  const old = secret;
  const answer = await api(app).post(`/api/subscriptions/${id}/rotate`).send({ grace_hours: 1 });
  const rotated = newSubscriptionView.parse(answer.body).secret;
  expect(rotated).not.toBe(old);
  await newTow(app);
  await work(id);
  expect(received.length).toBeGreaterThan(0);
  secret = rotated;
  await newTow(app);
  await work(id);
  answerTo = () => 418;
  const tested = await api(app).post(`/api/subscriptions/${id}/test`).send({});
  expect(tested.body).toEqual({ delivered: false, http_status: 418, problem: 'http_418' });
});

it('begins with the changes that are left when those before were removed, with a task that names the gap', async () => {
  const id = await subscribe();
  await newTow(app);
  await app.foundation.redis.set('{towhook-main}:epoch', 'e'.repeat(12));
  await work(id);
  const ref = await newTow(app);
  await work(id);
  expect(numbersOf(ref)).toEqual([1]);
  expect(JSON.stringify((await api(app).get('/api/tasks')).body)).toContain('has not got all changes');
});

it('is deleted, and refuses a second one of the same name', async () => {
  const id = await subscribe();
  const again = await api(app).post('/api/subscriptions').send({ name: 'dispatch', url: 'https://other.example/' });
  expect([again.status, errorOf(again).code]).toEqual([409, 'name_taken']);
  await api(app).delete(`/api/subscriptions/${id}`).expect(204);
  await newTow(app);
  await work(id);
  expect(received).toEqual([]);
  await api(app).delete(`/api/subscriptions/${id}`).expect(404);
});
