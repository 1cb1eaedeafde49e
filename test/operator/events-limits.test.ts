import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { api, errorOf, newKey } from './client';
import { eventView } from '../../src/contracts/ops/changes';
import { KEYS } from '../../src/store/keys';
import { addChange } from '../support/changes';
import { CHANGE, startEventStream } from './in-process';

const app = useApp({ role: 'console' });
const leaving: AbortController[] = [];
const listeners: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of leaving.splice(0)) one.abort();
  for (const one of listeners.splice(0)) await one.stop();
});

/** Opens an event stream; `leave` closes it from the client's side. supertest resolves only when a response has ended. */
async function watch(url: string, apiKey: string, query = '') {
  const client = new AbortController();
  leaving.push(client);
  const response = await fetch(`${url}/api/events${query}`, {
    headers: { authorization: `Bearer ${apiKey}` },
    signal: client.signal,
  });
  return { response, leave: () => client.abort() };
}

const statusOf = async (url: string, apiKey: string) => (await watch(url, apiKey)).response.status;

async function startStream(limits: { streamsMax?: number; repeatedMax?: number; blockMs?: number }) {
  const stream = await startEventStream(app.foundation, limits);
  listeners.push(stream);
  return stream;
}

it('gives a key twenty event streams, refuses the next with 429, and gives it the place of one that was closed', async () => {
  const apiKey = await newKey(app, 'viewer');
  const streams = [];
  for (let index = 0; index < 20; index += 1) streams.push(await watch(app.consoleUrl, apiKey));
  expect(streams.map(({ response }) => response.status)).toEqual(streams.map(() => 200));
  const refused = await api(app, apiKey).get('/api/events');
  expect([refused.status, errorOf(refused).code]).toEqual([429, 'too_many_streams']);
  expect(errorOf(refused).message).toContain('20');
  expect(Number(refused.get('retry-after'))).toBeGreaterThan(0);
  expect(await statusOf(app.consoleUrl, app.apiKey)).toBe(200);

  streams[7]?.leave();
  await eventually(async () => expect(await statusOf(app.consoleUrl, apiKey)).toBe(200));
  await api(app, apiKey).get('/api/events').expect(429);
});

it('answers HEAD without opening an event stream', async () => {
  const apiKey = await newKey(app, 'viewer');
  for (let index = 0; index < 25; index += 1) await api(app, apiKey).head('/api/events').expect(200);
  expect(await statusOf(app.consoleUrl, apiKey)).toBe(200);
});

it('refuses event streams of any key with 503 once the process has as many as it may', async () => {
  const { url } = await startStream({ streamsMax: 3 });
  const keys = [await newKey(app, 'viewer'), await newKey(app, 'crew')];
  const [first] = [await watch(url, app.apiKey), await watch(url, keys[0] ?? ''), await watch(url, keys[1] ?? '')];
  const refused = await watch(url, keys[0] ?? '');
  expect([refused.response.status, await refused.response.json()]).toMatchObject([503, { code: 'streams_full' }]);
  expect(refused.response.headers.get('retry-after')).not.toBeNull();
  first.leave();
  await eventually(async () => expect(await statusOf(url, keys[0] ?? '')).toBe(200));
});

it('gives the place back of a client that left while its key was looked up', async () => {
  const { url } = await startStream({ streamsMax: 1 });
  const apiKey = await newKey(app, 'viewer');
  for (let index = 0; index < 30; index += 1) {
    const client = new AbortController();
    const asked = fetch(`${url}/api/events`, {
      headers: { authorization: `Bearer ${apiKey}` },
      signal: client.signal,
    });
    await Promise.race([asked, new Promise((resolve) => setImmediate(resolve))]);
    client.abort();
    await asked.catch(() => null);
  }
  await eventually(async () => expect(await statusOf(url, app.apiKey)).toBe(200), 10_000);
});

describe('events after a cursor', () => {
  const eventsOf = async (
    { response, leave }: Awaited<ReturnType<typeof watch>>,
    untilText: string,
    /** What happens then, and the text after which the list ends. */
    then: { readonly add: () => Promise<void>; readonly untilText: string } | null = null,
  ) => {
    let text = '';
    const reading = (async () => {
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += chunk;
    })().catch(() => null);
    await eventually(() => expect(text).toContain(untilText));
    await then?.add();
    await eventually(() => expect(text).toContain(then?.untilText ?? untilText));
    leave();
    await reading;
    return [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => eventView.parse(JSON.parse(data ?? '')).type);
  };
  const add = (id: string) => addChange(app.foundation.redis, id);

  it('repeats as many as it may, and beyond that tells the client once to read everything again', async () => {
    const { url, feed } = await startStream({ repeatedMax: 5 });
    const after = `?after=${await feed.now()}`;
    for (let count = 1; count <= 5; count += 1) await add(`TW-${count}`);
    expect(await eventsOf(await watch(url, app.apiKey, after), 'TW-5')).toEqual(Array(5).fill('tow.changed'));
    await add('TW-6');
    const last = { add: () => add('TW-7'), untilText: 'TW-7' };
    expect(await eventsOf(await watch(url, app.apiKey, after), 'events.missed', last)).toEqual([
      ...Array<string>(5).fill('tow.changed'),
      'events.missed',
      'tow.changed',
    ]);
  });

  it('tells open streams when Redis has lost changes, or has those of another time', async () => {
    const { redis } = app.foundation;
    const { url } = await startStream({ blockMs: 20 });
    await add('TW-1');
    const change = async (act: () => Promise<unknown>) => {
      const open = await watch(url, app.apiKey);
      await act();
      expect(await eventsOf(open, 'events.missed')).toEqual(['events.missed']);
    };
    await change(() => redis.set(KEYS.epoch, 'e'.repeat(12)));
    await change(() => redis.del(KEYS.changes));
  });

  it('tells open streams that changes may be lost', async () => {
    const { url, feed, publish, missed } = await startStream({});
    const open = await watch(url, app.apiKey);
    publish(CHANGE);
    missed(await feed.now());
    expect(await eventsOf(open, 'events.missed')).toEqual(['tow.changed', 'events.missed']);
  });

  it('sends no change again that a stream has got while it caught up', async () => {
    const { url, feed, publish } = await startStream({});
    const after = `?after=${await feed.now()}`;
    await add('TW-1');
    const { items } = await feed.read(after.slice('?after='.length), { limit: 1 });
    const open = await watch(url, app.apiKey, after);
    const more = async () => {
      items.forEach(publish);
      await add('TW-2');
    };
    expect(await eventsOf(open, 'TW-1', { add: more, untilText: 'TW-2' })).toEqual(['tow.changed', 'tow.changed']);
  });

  it('tells a client of another epoch to read everything again', async () => {
    const other = '?after=ffffffffffff-1-0';
    expect(await eventsOf(await watch(app.consoleUrl, app.apiKey, other), 'events.missed')).toEqual(['events.missed']);
  });

  it.each(['after=yesterday', 'after=', 'after=1-1', 'after=a&after=b'])(
    'refuses ?%s with 422 and names after',
    async (query) => {
      const { response } = await watch(app.consoleUrl, app.apiKey, `?${query}`);
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ code: 'field_invalid', details: [{ field: 'after' }] });
    },
  );
});
