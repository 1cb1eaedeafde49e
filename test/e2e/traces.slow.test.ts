import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { execFile } from 'node:child_process';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { z } from 'zod';
import { createOperatorClient } from '../../src/demo/client';
import { traceIdsOf } from '../../src/platform/log/tracing';
import { compiledFile } from '../support/compiled';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { API_KEY, buildTown } from '../support/town';
import { requestTow } from './simulator-control';

const redis = useRedis();

const spanContract = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  links: z.array(z.object({ spanId: z.string() })).optional(),
});
type TestSpan = z.output<typeof spanContract>;

const batchContract = z.object({
  resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(spanContract) })) })),
});

/** A collector of OpenTelemetry that keeps what it receives. */
async function startCollector() {
  const spans: TestSpan[] = [];
  const texts: string[] = [];
  const keep = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await json(request);
    texts.push(JSON.stringify(body));
    spans.push(...batchContract.parse(body).resourceSpans.flatMap((each) => each.scopeSpans.flatMap((s) => s.spans)));
    response.writeHead(request.url === '/v1/traces' ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
  };
  const server = createServer((request, response) => void keep(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the collector has no port');
  return {
    spans,
    text: () => texts.join(),
    url: `http://127.0.0.1:${address.port}`,
    close: () => server.close().closeAllConnections(),
  };
}

test('a tow is one trace over two processes, from its webhook to its last report, with no personal data', async () => {
  const collector = await startCollector();
  try {
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const town = await buildTown(redis.url);
    const all = await town.start('all', environment);
    // From now on the webhooks go to this process.
    const receiver = await town.start('receiver', environment);
    const consoleUrl = await all.url('console');
    const client = createOperatorClient(consoleUrl, API_KEY);
    const ref = await requestTow(town);
    await eventually(async () => expect(await client.tow(ref)).not.toBeNull());
    const fact = { plate_number: 'ZZZ 77', towed_location: 'Hidden Street', latitude: 24.1, longitude: 46.2 };
    const response = await fetch(`${consoleUrl}/api/tows/${ref}/started`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${API_KEY}`,
        'content-type': 'application/json',
        traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      },
      body: JSON.stringify(fact),
    });
    expect(response.status).toBe(202);
    await client.recordFact(ref, 'released', {});
    await eventually(async () => {
      const tow = await client.tow(ref);
      expect(tow?.reports.map(({ state }) => state)).toEqual(['accepted', 'accepted']);
    });
    // Each sends what it has collected before it ends.
    for (const role of [all, receiver]) {
      role.kill('SIGTERM');
      expect(await role.exited).toBe(0);
    }

    const { traceId, firstSpanId } = traceIdsOf({ kind: 'tow', id: ref });
    const [first, ...others] = collector.spans.toSorted((one, other) => rank(one) - rank(other));
    expect(first).toMatchObject({ name: 'receive tow_request', traceId, spanId: firstSpanId });
    expect(first?.parentSpanId ?? '').toBe('');
    expect(others.map(({ name }) => name).toSorted()).toEqual([
      'POST /api/tows/:towing_reference_id/released',
      'POST /api/tows/:towing_reference_id/started',
      'process tow_request',
      'send released',
      'send started',
    ]);
    for (const span of others) expect(span).toMatchObject({ traceId, parentSpanId: firstSpanId });
    const started = others.find(({ name }) => name.startsWith('POST') && name.endsWith('started'));
    expect(started?.links).toEqual([{ spanId: 'b'.repeat(16) }]);
    for (const secret of ['ZZZ 77', 'Hidden', API_KEY, 'Bearer']) expect(collector.text()).not.toContain(secret);
  } finally {
    collector.close();
  }
});

/** The first span before all others. */
function rank({ name }: TestSpan): number {
  return name === 'receive tow_request' ? 0 : 1;
}

test('without a collector the code that makes and sends traces is not loaded', async () => {
  const script = `
    for (const file of process.argv.slice(1)) require(file);
    console.log(Object.keys(require.cache).filter((file) => file.includes('@opentelemetry/sdk') || file.includes('@opentelemetry/exporter')).length);
  `;
  const files = ['foundation', 'receiver', 'worker', 'console'].map((part) => compiledFile(`src/main/${part}.ts`));
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script, ...files]);
  expect(stdout.trim()).toBe('0');
});
