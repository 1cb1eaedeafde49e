import type { z } from 'zod';
import { CHANGE_FIELD, changesPage, eventView } from '../../src/contracts/ops/changes';
import { KEYS } from '../../src/store/keys';
import { recordsOf } from '../../src/store/outbox/records';
import { startApp, useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { reportViolations } from '../support/violations';
import { api, newKey, towIn, towPath } from './client';
import { newTow, record, WHEREABOUTS } from './world';

const app = useApp({ role: 'console', ownRedis: true });

type Received = { readonly id: string; readonly data: z.infer<typeof eventView> };

/** Opens an event stream and runs a check with the events that it receives, a list that grows. */
async function watching(
  check: (received: readonly Received[]) => Promise<void>,
  { apiKey = app.apiKey, query = '', headers = {} }: { apiKey?: string; query?: string; headers?: object } = {},
): Promise<void> {
  const leaving = new AbortController();
  // An open event stream: supertest resolves only when a response has ended.
  const response = await fetch(`${app.consoleUrl}/api/events${query}`, {
    headers: { authorization: `Bearer ${apiKey}`, ...headers },
    signal: leaving.signal,
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const received: Received[] = [];
  const reading = read(response, received).catch(() => {});
  try {
    await check(received);
  } finally {
    leaving.abort();
    await reading;
  }
}

async function read(response: Response, received: Received[]): Promise<void> {
  if (!response.body) throw new Error('the stream has no body');
  let unread = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = `${unread}${chunk}`.split('\n\n');
    unread = blocks.pop() ?? '';
    received.push(...blocks.filter((block) => block.startsWith('id: ')).map(eventIn));
  }
}

function eventIn(block: string): Received {
  const [id = '', data = ''] = block.split('\n');
  return { id: id.slice('id: '.length), data: eventView.parse(JSON.parse(data.slice('data: '.length))) };
}

const subjectOf = ({ data }: Received) => ('subject' in data ? (data.subject?.id ?? '') : '');
const typesOf = (received: readonly Received[], id: string) =>
  received.filter((each) => subjectOf(each) === id).map(({ data }) => data.type);

it('reads the changes once for all streams and all who wait, and wakes them', async () => {
  const cursor = async (query = {}) => {
    const answer = await api(app).get('/api/changes').query(query);
    return changesPage.parse(answer.body).next_cursor;
  };
  const after = await cursor();
  await watching(async (one) => {
    await watching(async (other) => {
      // One that waits for what never comes shows that the read goes on for it.
      const inVain = cursor({ after, wait: 20, types: 'alarm.ended' });
      const waiting = cursor({ after, wait: 20 });
      const blocked = async () => String(await app.redis.ask('CLIENT', 'LIST')).match(/cmd=xread\b/g);
      await eventually(async () => expect(await blocked()).toHaveLength(1));
      const ref = await newTow(app);
      const first = await Promise.race([waiting, inVain.then(() => 'too late')]);
      expect([after, 'too late']).not.toContain(first);
      for (const received of [one, other]) {
        await eventually(() => expect(JSON.stringify(received)).toContain(ref));
      }
      await eventually(async () => expect(await blocked()).toHaveLength(1));
      await app.foundation.redis.xadd(KEYS.changes, '*', CHANGE_FIELD, '["alarm.ended",null,null,null,{}]');
      await inVain;
    });
  });
});

it('sends the changes of a tow with their cursors, and without personal data', async () => {
  await watching(async (received) => {
    const ref = await newTow(app);
    towIn(await api(app).post(towPath(ref, '/started')).send(WHEREABOUTS));
    await eventually(() => expect(typesOf(received, ref)).toEqual(['tow.requested', 'fact.recorded']));
    for (const { id, data } of received) expect('cursor' in data && data.cursor).toBe(id);
    expect(received.map(({ data }) => data.type)).toContain('delivery.accepted');
    expect(JSON.stringify(received)).not.toContain(WHEREABOUTS.plate_number);
  });
});

it('sends the changes of a violation', async () => {
  await watching(async (received) => {
    await reportViolations({ records: recordsOf(app.foundation.redis) }, 'U1');
    await eventually(() => expect(typesOf(received, 'U1')).toEqual(['violation.recorded']));
  });
});

it('sends every change to every client, and goes on when one client disconnects', async () => {
  await watching(async (first) => {
    await watching(async (second) => {
      await newTow(app);
      await eventually(() => expect(second.length).toBeGreaterThan(0));
    });
    const ref = await newTow(app);
    await record(app, ref, 'started');
    await eventually(() => expect(typesOf(first, ref)).toContain('fact.recorded'));
  });
});

it.each(['the query', 'the header Last-Event-ID'])(
  'sends what happened after the cursor of %s, each change once, followed by new changes',
  async (place) => {
    let cursor = '';
    let before = '';
    await watching(async (received) => {
      before = await newTow(app);
      await eventually(() => expect(typesOf(received, before)).toEqual(['tow.requested']));
      cursor = received.at(-1)?.id ?? '';
    });
    const ref = await newTow(app);
    await record(app, ref, 'started');
    await watching(
      async (received) => {
        await eventually(() => expect(typesOf(received, ref)).toEqual(['tow.requested', 'fact.recorded']));
        await record(app, ref, 'detained');
        await eventually(() =>
          expect(typesOf(received, ref)).toEqual(['tow.requested', 'fact.recorded', 'fact.recorded']),
        );
        expect(typesOf(received, before)).toEqual([]);
        expect(new Set(received.map(({ id }) => id)).size).toBe(received.length);
      },
      // The header comes first: it is newer than the address of a page.
      place === 'the query'
        ? { query: `?after=${cursor}` }
        : { query: '?after=ffffffffffff-0-0', headers: { 'last-event-id': cursor } },
    );
  },
);

it('sends no earlier changes to a client without a cursor', async () => {
  const before = await newTow(app);
  await watching(async (received) => {
    const ref = await newTow(app);
    await eventually(() => expect(typesOf(received, ref)).toEqual(['tow.requested']));
    expect(typesOf(received, before)).toEqual([]);
  });
});

it('permits a viewer to read the event stream, and refuses a client without a valid key with 401', async () => {
  await watching(async () => {}, { apiKey: await newKey(app, 'viewer') });
  await api(app, null).get('/api/events').expect(401);
  await api(app, 'thk_wrong').get('/api/events').expect(401);
});

it('continues an event stream after a restart of Redis', async () => {
  await watching(async (received) => {
    await app.redis.restart();
    await eventually(async () => {
      const ref = await newTow(app);
      await eventually(() => expect(typesOf(received, ref)).toContain('tow.requested'), 300);
    });
  });
});

it('ends open event streams when the process stops, instead of waiting for the grace period', async () => {
  const leaving = await startApp({
    redisUrl: app.redis.url,
    role: 'console',
    // Longer than the timeout of a test: the test fails if the process waits for it.
    environment: { STOP_GRACE_MS: '60000' },
  });
  const headers = { authorization: `Bearer ${leaving.apiKey}` };
  // The stream must be open before the process stops: supertest resolves only when a response has ended.
  const stream = await fetch(`${leaving.consoleUrl}/api/events`, { headers });
  const [rest] = await Promise.all([stream.text(), leaving.stop()]);
  expect(rest).toContain('retry:');
});
