import type { Socket } from 'node:net';
import { pause } from '../../src/platform/timers';
import { budgetsOf } from '../support/outboxes';
import { clientWithToken, closeClients, REQUESTS } from './client-under-test';
import { enveloped, startFakeService, startRawServer, TOW_ANSWER } from './fake-service';

let stop: (() => Promise<void>) | null = null;
afterEach(async () => {
  closeClients();
  await stop?.();
  stop = null;
});

const answer = (body = TOW_ANSWER.body ?? '') =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

const INVOICE = enveloped({
  towing_reference_id: 'TW-1',
  towing_invoice: { total_amount: 1, paid_amount: 0, tax: 0 },
});

describe('connections of the client', () => {
  it('a connection is kept for calls that may be repeated', async () => {
    const fake = await startFakeService();
    stop = () => fake.stop();
    const client = await clientWithToken(fake.url);
    for (let nth = 0; nth < 5; nth += 1) await client.call('detained', REQUESTS.detained);
    expect(fake.calls.map(({ connection }) => connection)).toEqual([1, 1, 1, 1, 1]);
  });

  it('a call that may not be repeated uses no connection of calls that may', async () => {
    const fake = await startFakeService();
    stop = () => fake.stop();
    fake.onCall((call) => (call.url.endsWith('/invoice') ? INVOICE : TOW_ANSWER));
    const client = await clientWithToken(fake.url);
    await client.call('detained', REQUESTS.detained);
    await client.call('invoice', REQUESTS.invoice);
    await client.call('detained', REQUESTS.detained);
    expect(fake.calls.map(({ connection }) => connection)).toEqual([1, 2, 1]);
  });

  it('calls that may not be repeated share a connection while it is in use', async () => {
    const fake = await startFakeService();
    stop = () => fake.stop();
    fake.onCall(() => INVOICE);
    const client = await clientWithToken(fake.url);
    for (let nth = 0; nth < 20; nth += 1) await client.call('invoice', REQUESTS.invoice);
    // Not always one: a busy machine may pause for longer than a connection may be idle.
    expect(fake.opened()).toBeLessThan(20);
  });

  it('a connection of calls that may not be repeated ends when it is idle, long before the service ends it', async () => {
    const server = await startRawServer((socket) => socket.write(answer(INVOICE.body)));
    stop = () => server.stop();
    const client = await clientWithToken(server.url);
    await client.call('invoice', REQUESTS.invoice);
    await server.closed(1);
    const { exchange } = await client.call('invoice', REQUESTS.invoice);
    expect(exchange.kind).toBe('accepted');
    expect(server.received.map((text) => text.match(/POST \S+\/invoice /g)?.length)).toEqual([1, 1]);
  });

  it('an answer to a call that may not be repeated may take longer than its connection may be idle', async () => {
    const fake = await startFakeService();
    stop = () => fake.stop();
    fake.onCall(async () => {
      await pause(1500);
      return INVOICE;
    });
    const client = await clientWithToken(fake.url);
    expect((await client.call('invoice', REQUESTS.invoice)).exchange.kind).toBe('accepted');
  });

  it('all connections are closed with the client', async () => {
    const server = await startRawServer((socket) => socket.write(answer()));
    stop = () => server.stop();
    const client = await clientWithToken(server.url);
    await client.call('detained', REQUESTS.detained);
    const closed = server.closed(1);
    client.close();
    await closed;
    expect(server.received).toHaveLength(1);
  });
});

describe('a kept connection that the service closes', () => {
  /** Answers the first request of a connection and resets the connection at the second, like a server that timed out. */
  const staleServer = () =>
    startRawServer((socket, { connection, chunk }) => {
      if (connection === 1 && chunk > 1) socket.resetAndDestroy();
      else socket.write(answer());
    });

  it('a call on a kept connection that the service closes is one unanswered attempt and is sent once', async () => {
    const server = await staleServer();
    stop = () => server.stop();
    const client = await clientWithToken(server.url);
    await client.call('detained', REQUESTS.detained);
    const { exchange } = await client.call('released', REQUESTS.released);
    expect(exchange).toEqual({ kind: 'unanswered', cause: 'connection_reset' });
    expect(server.received.join('').match(/\/released /g)).toHaveLength(1);
    expect((await client.call('released', REQUESTS.released)).exchange.kind).toBe('accepted');
  });

  it('a call that may not be repeated never uses a kept connection that the service closes', async () => {
    const server = await startRawServer((socket, { connection, chunk }) => {
      if (connection === 1 && chunk === 1) socket.write(answer());
      else socket.resetAndDestroy();
    });
    stop = () => server.stop();
    const client = await clientWithToken(server.url);
    await client.call('detained', REQUESTS.detained);
    const { exchange } = await client.call('invoice', REQUESTS.invoice);
    expect(exchange).toEqual({ kind: 'unanswered', cause: 'connection_reset' });
    expect(server.received.join('').match(/POST \S+\/invoice /g)).toHaveLength(1);
  });
});

/** Makes a call whose connection the service ends, with `early` as its last words, while the call waits for a permit. */
async function callOnEndedConnection({ callsBefore, early = '' }: { callsBefore: number; early?: string }) {
  const opened: Socket[] = [];
  const server = await startRawServer(
    (socket) => socket.write(answer()),
    (socket) => opened.push(socket),
  );
  stop = () => server.stop();
  const isClosed = () => opened[0]?.closed === true;
  let asked = 0;
  const budgets = budgetsOf(async () => {
    asked += 1;
    if (asked > callsBefore) {
      while (opened.length === 0) await pause(5);
      opened[0]?.end(early);
      while (!isClosed()) await pause(5);
    }
    return { granted: true, inMs: 0, lastsMs: Infinity };
  });
  const client = await clientWithToken(server.url, { budgets });
  for (let nth = 0; nth < callsBefore; nth += 1) await client.call('detained', REQUESTS.detained);
  const result = await client.call('released', REQUESTS.released);
  return { result, connections: opened.length, wasReceived: server.received.join('').includes('/released') };
}

describe('a connection that closes while its call waits for a permit', () => {
  it.each([
    ['new', 0],
    ['kept', 1],
  ])(
    'a call on a %s connection that closes during the wait for a permit is surely not sent',
    async (_, callsBefore) => {
      const { result, connections, wasReceived } = await callOnEndedConnection({ callsBefore });

      expect(result.exchange).toEqual({ kind: 'surely_not_sent', cause: 'connection_reset' });
      expect([connections, wasReceived]).toEqual([1, false]);
    },
  );
});

describe('an answer that arrives before its call was sent', () => {
  it.each([
    ['new connection', 0, 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\n{}'],
    ['new connection, with a body that breaks off', 0, 'HTTP/1.1 408 Request Timeout\r\nContent-Length: 2\r\n\r\n'],
    ['new connection, although it accepts', 0, answer()],
    ['kept connection, although it accepts', 1, answer()],
  ])('is not believed, and the call is surely not sent: %s', async (_, callsBefore, early) => {
    const { result, connections, wasReceived } = await callOnEndedConnection({ callsBefore, early });

    expect(result).toMatchObject({ data: null, wasSent: false, isPermitSpent: false });
    expect(result.exchange).toEqual({ kind: 'surely_not_sent', cause: 'answered_early' });
    expect([connections, wasReceived]).toEqual([1, false]);
  });
});

describe('permission to send', () => {
  it('the permission to send is requested once per attempt, and without it no byte is sent', async () => {
    const fake = await startRawServer(() => {});
    stop = () => fake.stop();
    const client = await clientWithToken(fake.url);
    let asked = 0;
    const maySend = () => {
      asked += 1;
      return false;
    };
    expect(await client.call('detained', REQUESTS.detained, { maySend })).toMatchObject({
      exchange: { kind: 'dropped' },
      data: null,
      rawBody: null,
    });
    expect(await client.call('invoice', REQUESTS.invoice, { maySend })).toMatchObject({
      exchange: { kind: 'dropped' },
    });
    expect(
      await client.submitViolation('violation', { form: REQUESTS.violation, images: [] }, { maySend }),
    ).toMatchObject({ exchange: { kind: 'dropped' } });
    expect(asked).toBe(3);
    expect(fake.received.join('')).toBe('');
  });

  it('the permission to send is requested only when the connection is open', async () => {
    const gone = await startRawServer(() => {});
    await gone.stop();
    const client = await clientWithToken(gone.url);
    let asked = 0;
    const { exchange } = await client.call('detained', REQUESTS.detained, {
      maySend: () => {
        asked += 1;
        return true;
      },
    });
    expect(exchange.kind).toBe('surely_not_sent');
    expect(asked).toBe(0);
  });
});
