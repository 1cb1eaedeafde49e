import { z } from 'zod';
import { eventView } from '../../src/contracts/operator';
import { KEYS } from '../../src/store/keys';
import { recordsOf } from '../../src/store/outbox/records';
import { startApp, useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { reportViolations } from '../support/violations';
import { api, newKey, towIn, towPath } from './client';
import { newTow, record, WHEREABOUTS } from './world';

const app = useApp({ role: 'console', ownRedis: true });

interface ReceivedEvent {
  readonly event: string;
  readonly data: z.infer<typeof eventView>;
}

/** Opens an event stream and runs a check with the events that it receives, a list that grows. */
async function watching(
  check: (received: readonly ReceivedEvent[]) => Promise<void>,
  { apiKey = app.apiKey, query = '' }: { apiKey?: string; query?: string } = {},
): Promise<void> {
  const leaving = new AbortController();
  // An open event stream: supertest resolves only when a response has ended.
  const response = await fetch(`${app.consoleUrl}/api/events${query}`, {
    headers: { authorization: `Bearer ${apiKey}` },
    signal: leaving.signal,
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const received: ReceivedEvent[] = [];
  const reading = read(response, received).catch(() => {});
  // The process subscribes to the store before it passes events on.
  await eventually(async () => expect(await app.redis.ask('PUBSUB', 'NUMSUB', KEYS.events)).toEqual([KEYS.events, 1]));
  try {
    await check(received);
  } finally {
    leaving.abort();
    await reading;
  }
}

async function read(response: Response, received: ReceivedEvent[]): Promise<void> {
  if (!response.body) throw new Error('the stream has no body');
  let unread = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = `${unread}${chunk}`.split('\n\n');
    unread = blocks.pop() ?? '';
    received.push(...blocks.filter((block) => block.startsWith('event: ')).map(eventIn));
  }
}

const changesIn = (received: readonly ReceivedEvent[]) => received.filter(({ event }) => event === 'tow.changed');
const refsOf = (received: readonly ReceivedEvent[]) => received.map(({ data }) => data.towing_reference_id);

function eventIn(block: string): ReceivedEvent {
  const [event, data] = block.split('\n');
  return {
    event: event?.slice('event: '.length) ?? '',
    data: z.strictObject(eventView.shape).parse(JSON.parse(data?.slice('data: '.length) ?? '')),
  };
}

it('sends a fact as a tow.changed event with only time, type and tow reference', async () => {
  await watching(async (received) => {
    const ref = await newTow(app);
    towIn(await api(app).post(towPath(ref, '/started')).send(WHEREABOUTS));
    await eventually(() => expect(changesIn(received)).toHaveLength(2));
    for (const { event, data } of changesIn(received)) {
      expect(data).toEqual({ at: data.at, type: event, towing_reference_id: ref });
      expect(new Date(data.at).toISOString()).toBe(data.at);
    }
    expect(received.map(({ event }) => event)).toContain('delivery.accepted');
  });
});

it('sends a change of a violation as an event with only time, type and violation id', async () => {
  await watching(async (received) => {
    await reportViolations({ records: recordsOf(app.foundation.redis) }, 'U1');
    await eventually(() => expect(received.map(({ event }) => event)).toContain('violation.changed'));
    const [event] = received.filter((one) => one.event === 'violation.changed');
    expect(event?.data).toEqual({ at: event?.data.at, type: 'violation.changed', violation_id: 'U1' });
  });
});

it('sends every event to every client, and goes on when one client disconnects', async () => {
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

it('sends the events since the given time, once per tow, followed by new events', async () => {
  // A console repeats no events from before it got any, nor from up to half a second after that.
  await watching(async (received) => {
    const before = await newTow(app);
    await eventually(() => expect(refsOf(received)).toContain(before));
  });
  const since = new Date(app.foundation.clock.nowMs() + 500).toISOString();
  const ref = await newTow(app);
  await record(app, ref, 'started');
  await watching(
    async (received) => {
      const ofTow = () => changesIn(received).filter(({ data }) => data.towing_reference_id === ref);
      await eventually(() => expect(ofTow()).toHaveLength(1));
      await record(app, ref, 'detained');
      await eventually(() => expect(ofTow()).toHaveLength(2));
    },
    { query: `?since=${since}` },
  );
});

it.each(['', '?since=2999-01-01T00:00:00Z'])(
  'sends no earlier events to a client that connects with the query %j',
  async (query) => {
    let before = '';
    // Once one client has the last event of the tow, the process has passed all of them on.
    await watching(async (received) => {
      before = await newTow(app);
      await eventually(() => expect(refsOf(changesIn(received))).toContain(before));
    });
    await watching(
      async (received) => {
        const ref = await newTow(app);
        await eventually(() => expect(refsOf(received)).toContain(ref));
        expect(refsOf(received)).not.toContain(before);
      },
      { query },
    );
  },
);

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
      await eventually(() => expect(refsOf(received)).toContain(ref), 300);
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
