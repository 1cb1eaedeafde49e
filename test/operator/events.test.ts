import { z } from 'zod';
import { eventView } from '../../src/contracts/operator';
import { KEYS } from '../../src/store/keys';
import { createViolationStore } from '../../src/store/violations';
import { startApp, useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { reportViolations } from '../support/violations';
import { get, newKey, post, towIn, towPath } from './client';
import { newTow, record, WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });

interface Heard {
  readonly event: string;
  readonly data: z.infer<typeof eventView>;
}

/** Runs a check with the events that a watcher has heard so far. */
async function watching(
  check: (heard: readonly Heard[]) => Promise<void>,
  { apiKey = app.apiKey, query = '' }: { apiKey?: string; query?: string } = {},
): Promise<void> {
  const leaving = new AbortController();
  const response = await fetch(`${app.consoleUrl}/api/events${query}`, {
    headers: { authorization: `Bearer ${apiKey}` },
    signal: leaving.signal,
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const heard: Heard[] = [];
  const reading = read(response, heard).catch(() => {});
  // The process listens to the store itself once this is 1.
  await eventually(async () => expect(await app.redis.ask('PUBSUB', 'NUMSUB', KEYS.events)).toEqual([KEYS.events, 1]));
  try {
    await check(heard);
  } finally {
    leaving.abort();
    await reading;
  }
}

async function read(response: Response, heard: Heard[]): Promise<void> {
  if (!response.body) throw new Error('the stream has no body');
  let unread = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = `${unread}${chunk}`.split('\n\n');
    unread = blocks.pop() ?? '';
    heard.push(...blocks.filter((block) => block.startsWith('event: ')).map(heardIn));
  }
}

function heardIn(block: string): Heard {
  const [event, data] = block.split('\n');
  return {
    event: event?.slice('event: '.length) ?? '',
    data: z.strictObject(eventView.shape).parse(JSON.parse(data?.slice('data: '.length) ?? '')),
  };
}

it('a fact is heard as tow.changed with when, what and which tow, and nothing else of it', async () => {
  await watching(async (heard) => {
    const ref = await newTow(app);
    towIn(await post(app, towPath(ref, '/started'), WHEREABOUTS));
    await eventually(() => expect(heard.filter(({ event }) => event === 'tow.changed')).toHaveLength(2));
    for (const { event, data } of heard.filter((one) => one.event === 'tow.changed')) {
      expect(data).toEqual({ at: data.at, type: event, towing_reference_id: ref });
      expect(new Date(data.at).toISOString()).toBe(data.at);
    }
    expect(heard.map(({ event }) => event)).toContain('delivery.accepted');
  });
});

it('what happens to a violation is heard with our id of it, and nothing else of it', async () => {
  await watching(async (heard) => {
    await reportViolations(createViolationStore(app.foundation.redis), 'U1');
    await eventually(() => expect(heard.map(({ event }) => event)).toContain('violation.changed'));
    const [event] = heard.filter((one) => one.event === 'violation.changed');
    expect(event?.data).toEqual({ at: event?.data.at, type: 'violation.changed', violation_id: 'U1' });
  });
});

it('every watcher hears every event, and one that leaves does not disturb the others', async () => {
  await watching(async (first) => {
    await watching(async (second) => {
      await newTow(app);
      await eventually(() => expect(second.length).toBeGreaterThan(0));
    });
    const before = first.length;
    const ref = await newTow(app);
    await record(app, ref, 'started');
    await eventually(() => expect(first.slice(before).map(({ data }) => data.towing_reference_id)).toContain(ref));
  });
});

it('who says since when hears what happened from then on, once per what it is about, and then what happens', async () => {
  const since = new Date(app.foundation.clock.nowMs()).toISOString();
  const ref = await newTow(app);
  await record(app, ref, 'started');
  await watching(
    async (heard) => {
      const ofTow = () =>
        heard.filter(({ data, event }) => event === 'tow.changed' && data.towing_reference_id === ref);
      await eventually(() => expect(ofTow()).toHaveLength(1));
      await record(app, ref, 'detained');
      await eventually(() => expect(ofTow()).toHaveLength(2));
    },
    { query: `?since=${since}` },
  );
});

it.each(['', '?since=', '?since=yesterday', '?since=2999-01-01T00:00:00Z'])(
  'with %j nobody is told of before',
  async (query) => {
    const before = await newTow(app);
    await watching(
      async (heard) => {
        const ref = await newTow(app);
        await eventually(() => expect(heard.map(({ data }) => data.towing_reference_id)).toContain(ref));
        expect(heard.map(({ data }) => data.towing_reference_id)).not.toContain(before);
      },
      { query },
    );
  },
);

it('a viewer may watch, and nobody without a key', async () => {
  await watching(async () => {}, { apiKey: await newKey(app, 'viewer') });
  expect((await get(app, '/api/events', { apiKey: null })).status).toBe(401);
  expect((await get(app, '/api/events', { apiKey: 'thk_wrong' })).status).toBe(401);
});

it('a watcher goes on hearing after Redis was away', async () => {
  await watching(async (heard) => {
    await app.redis.restart();
    await eventually(async () => {
      const ref = await newTow(app);
      await eventually(() => expect(heard.map(({ data }) => data.towing_reference_id)).toContain(ref), 300);
    });
  });
});

it('a process that stops ends its streams instead of waiting for them', async () => {
  const leaving = await startApp({
    redisUrl: app.redis.url,
    role: 'console',
    environment: { STOP_GRACE_MS: '20000' },
  });
  const headers = { authorization: `Bearer ${leaving.apiKey}` };
  const stream = await fetch(`${leaving.consoleUrl}/api/events`, { headers });
  const startedMs = performance.now();
  const [rest] = await Promise.all([stream.text(), leaving.stop()]);
  expect(rest).toContain('retry:');
  expect(performance.now() - startedMs).toBeLessThan(5000);
});
