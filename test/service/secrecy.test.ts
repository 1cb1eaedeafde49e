import type { CallResult } from '../../src/workflow/service/service-port';
import type { OperationName } from '../../src/contracts/service/operations';
import { errorFacts } from '../../src/platform/errors';
import { createMemoryTokenCache } from '../../src/service';
import { TransportFailure } from '../../src/service/transport-failure';
import { systemClock } from '../../src/platform/clock';
import { clientFor, closeClients, readableLog, REQUESTS, type ClientLog } from './client-under-test';
import { enveloped, json, startFakeService, startRawServer, TOW_ANSWER } from './fake-service';

afterEach(closeClients);

/** Everything that may not be seen: credentials, tokens, query, address, values of bodies. */
const SECRETS = [
  'client-7',
  'secret-42',
  'hush',
  'zoneId',
  'ab c',
  '127.0.0.1',
  '1234',
  'Riyadh',
  'Reporter',
  'TW-',
  'V-2',
];

function expectNoSecrets(seen: unknown): void {
  const text = JSON.stringify(seen);
  expect(SECRETS.filter((secret) => text.includes(secret))).toEqual([]);
}

/** Calls of every kind, and what they may be known by. A silent service needs a `timeoutMs` that ends soon. */
async function callEverything(url: string, log: ClientLog, timeoutMs = 20_000): Promise<CallResult<OperationName>[]> {
  const tokens = createMemoryTokenCache(systemClock);
  await tokens.write({ token: 'hush-1', expiresAtMs: null });
  const client = clientFor(url, { log, tokens, timeoutMs });
  return [
    await client.call('started', REQUESTS.started),
    await client.call('invoice', REQUESTS.invoice),
    await client.call('capacity', REQUESTS.capacity),
    await client.call('ticket', REQUESTS.ticket),
    await client.submitViolation('violation', { form: REQUESTS.violation, images: [] }),
    await client.call('token', null),
  ];
}

describe('secrets of the service client', () => {
  it('logs one line without secrets per call when everything works', async () => {
    const log = readableLog();
    const fake = await startFakeService();
    fake.onTokenCall(() => enveloped({ token: 'hush-2' }));
    await callEverything(fake.url, log);
    await fake.stop();
    expect(log.lines.map(({ level, event, fields }) => [level, event, fields['operation']])).toEqual([
      ['debug', 'service.called', 'started'],
      ['debug', 'service.called', 'invoice'],
      ['debug', 'service.called', 'capacity'],
      ['debug', 'service.called', 'ticket'],
      ['debug', 'service.called', 'violation'],
      ['debug', 'service.called', 'token'],
    ]);
    const { duration_ms: durationMs, ...fields } = log.lines[0]?.fields ?? {};
    expect(fields).toEqual({ operation: 'started', http_status: 200, exchange: 'accepted' });
    expect(Number.isInteger(durationMs)).toBe(true);
    expectNoSecrets(log.lines);
  });

  it('logs and returns no secrets when the service refuses every call and repeats what it received', async () => {
    const log = readableLog();
    const fake = await startFakeService();
    fake.onCall(({ url, headers, body }) =>
      json({ code: `${url} ${JSON.stringify(headers)} ${body.toString()}` }, 400),
    );
    fake.onTokenCall(({ headers }) => json({ code: JSON.stringify(headers) }, 500));
    const results = await callEverything(fake.url, log);
    await fake.stop();
    expect(results.map(({ exchange }) => exchange.kind)).toEqual(Array.from({ length: 6 }, () => 'refused'));
    expectNoSecrets([log.lines, results.map(({ exchange }) => exchange)]);
  });

  it('logs and returns no secrets when answers break the contract with values in them', async () => {
    const log = readableLog();
    const fake = await startFakeService();
    fake.onCall(() => enveloped({ towing_reference_id: ['hush-4'], zoneId: ['Riyadh'], metadata: { id: 1234 } }));
    fake.onTokenCall(() => enveloped({ token: ['hush-2'] }));
    const results = await callEverything(fake.url, log);
    await fake.stop();
    expect(results.map(({ exchange }) => exchange.kind)).toEqual(Array.from({ length: 6 }, () => 'contract_broken'));
    expectNoSecrets([log.lines, results.filter((_, at) => at !== 2).map(({ exchange }) => exchange)]);
    expect(results.at(-1)?.rawBody).toBeNull();
  });

  it('logs one line without secrets per call when the service is unreachable, silent or sends noise', async () => {
    for (const onChunk of [null, () => {}, 'hush-3 not http\r\n\r\n']) {
      const log = readableLog();
      const server = await startRawServer((socket) => {
        if (typeof onChunk === 'string') socket.end(onChunk);
      });
      if (onChunk === null) await server.stop();
      const results = await callEverything(server.url, log, 200);
      await server.stop();
      expect(log.lines).toHaveLength(6);
      expectNoSecrets([log.lines, results]);
    }
  });
});

it('a token call returns no body that contains the token', async () => {
  const fake = await startFakeService();
  fake.onTokenCall(() => enveloped({ token: 'hush-2' }));
  fake.onCall(() => TOW_ANSWER);
  const result = await clientFor(fake.url).call('token', null);
  await fake.stop();
  expect(result.rawBody).toBeNull();
});

it('the error of the transport contains only its message and cause', () => {
  const failure = new TransportFailure({ phase: 'unanswered', reason: 'timeout' });
  expect(failure.message).toBe('the call to the service failed: timeout');
  expect([failure.config, failure.request, failure.response]).toEqual([undefined, undefined, undefined]);
  expect(errorFacts(failure)).toMatchObject({ error_name: 'TransportFailure', error_code: 'timeout' });
});
