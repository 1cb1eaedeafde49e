import { processDeliveries, type ProcessDeliveryTools } from '../../jobs/process-delivery';
import { WEBHOOK_READERS } from '../../src/contracts/webhook/read-webhook';
import { createMetrics } from '../../src/platform/log/metrics';
import { createCounters } from '../../src/platform/log/counters';
import { throttledLog } from '../../src/platform/log/log-throttle';
import { recordedLog } from '../support/recorded-log';
import { deliveryTools, towInvoice, towRequest, useStores } from '../support/stores';

const stores = useStores();

/** Both workers read the delivery before either of them has processed it. */
async function processTwice(id: string) {
  const counters = createCounters();
  const observed: string[] = [];
  let readings = 0;
  let release = () => {};
  const bothHaveRead = new Promise<void>((resolve) => {
    release = resolve;
  });
  const tools: ProcessDeliveryTools = {
    ...deliveryTools(stores.redis),
    deliveries: {
      read: async (asked) => {
        const delivery = await stores.deliveries.read(asked);
        readings += 1;
        if (readings === 2) release();
        await bothHaveRead;
        return delivery;
      },
    },
    metrics: createMetrics(counters),
    observe: (_kind, body) => void observed.push(body),
  };
  const outcomes = await Promise.all([1, 2].map(() => processDeliveries({ delivery_ids: [id] }, tools)));
  return { verdicts: outcomes.map(({ what }) => what).toSorted(), counted: counters.take().added, observed };
}

test('a tow request that two workers process at the same time is counted once', async () => {
  await stores.accept('tow_request', towRequest('T1'), 'request-T1');
  const { verdicts, counted, observed } = await processTwice('request-T1');
  expect(verdicts).toEqual(['created', 'settled_before']);
  expect(counted).toMatchObject({ 'processed.tow_request': 1 });
  expect(observed).toEqual([JSON.stringify(towRequest('T1'))]);
});

test('an invoice that two workers process at the same time is counted once', async () => {
  await stores.request('T1');
  await stores.accept('tow_invoice', towInvoice('T1'), 'invoice-T1');
  const { verdicts, counted } = await processTwice('invoice-T1');
  expect(verdicts).toEqual(['attached', 'settled_before']);
  expect(counted).toMatchObject({ 'processed.tow_invoice': 1 });
});

describe('the body of a webhook is observed once', () => {
  let observed: string[];
  const processed = (id: string, parts: Partial<ProcessDeliveryTools> = {}) =>
    stores.process(id, { observe: (_kind, body) => void observed.push(body), ...parts });
  const failing = {
    ...WEBHOOK_READERS,
    tow_request: () => {
      throw new Error('played by a test');
    },
  };
  beforeEach(() => {
    observed = [];
  });

  test('although it is processed again when the tow of its parked invoice is known', async () => {
    await stores.accept('tow_invoice', towInvoice('T1'), 'invoice-T1');
    expect(await processed('invoice-T1')).toBe('parked');
    expect(await processed('invoice-T1')).toBe('parked');
    await stores.request('T1');
    expect(await processed('invoice-T1')).toBe('attached');

    expect(observed).toEqual([JSON.stringify(towInvoice('T1'))]);
  });

  test('although it failed before', async () => {
    await stores.accept('tow_request', towRequest('T1'), 'request-T1');
    expect(await processed('request-T1', { readers: failing })).toBe('deferred');
    expect(await processed('request-T1')).toBe('created');

    expect(observed).toEqual([JSON.stringify(towRequest('T1'))]);
  });

  test('although a person replays it before its first run', async () => {
    await stores.accept('tow_request', towRequest('T1'), 'request-T1');
    await stores.replay('request-T1');
    expect(await processed('request-T1')).toBe('created');

    expect(observed).toEqual([JSON.stringify(towRequest('T1'))]);
  });

  test('although it differs from its contract, and is replayed', async () => {
    const odd = { ...towRequest('T1'), metadata: ['T1'] };
    await stores.accept('tow_request', odd, 'request-T1');
    expect(await processed('request-T1')).toBe('differs');
    await stores.replay('request-T1');
    expect(await processed('request-T1')).toBe('differs');

    expect(observed).toEqual([JSON.stringify(odd)]);
  });
});

test('the other deliveries of a job are processed when one fails and cannot be deferred', async () => {
  await stores.accept('tow_request', towRequest('T1'), 'request-T1');
  const unreadable = () => Promise.reject(new Error('unreadable'));
  const tools: ProcessDeliveryTools = {
    ...deliveryTools(stores.redis),
    deliveries: { read: (id) => (id === 'broken' ? unreadable() : stores.deliveries.read(id)) },
    defer: unreadable,
  };

  const outcome = await processDeliveries({ delivery_ids: ['broken', 'request-T1'] }, tools);

  expect(outcome).toEqual({ kind: 'done', what: 'deferred, created' });
  expect((await stores.read('T1')).tow.state).toBe('requested');
});

/** Processes deliveries whose reading fails with `cause`; returns the lines of the log. */
async function failingWith(cause: Error, ids: readonly string[], parts: Partial<ProcessDeliveryTools> = {}) {
  const { log, lines } = recordedLog();
  const tools = deliveryTools(stores.redis);
  await processDeliveries(
    { delivery_ids: [...ids] },
    {
      ...tools,
      deliveries: { read: () => Promise.reject(cause) },
      log,
      transientLog: throttledLog(log, { clock: tools.clock, by: ['error'] }),
      ...parts,
    },
  );
  return lines;
}

async function acceptMany(count: number): Promise<string[]> {
  const refs = Array.from({ length: count }, (_, at) => `T${at}`);
  await Promise.all(refs.map((ref) => stores.accept('tow_request', towRequest(ref), `request-${ref}`)));
  return refs.map((ref) => `request-${ref}`);
}

test('a Redis that times out for many deliveries is logged once for each cause, as a warning without a stack', async () => {
  const ids = await acceptMany(20);

  const lines = await failingWith(new Error('Command timed out'), ids);

  expect(lines).toEqual([
    {
      level: 'warn',
      event: 'delivery.failed',
      delivery_id: expect.stringMatching(/^request-T/) as unknown,
      failures: 1,
      error: 'Command timed out',
      error_name: 'Error',
    },
  ]);
});

test('a delivery that cannot be deferred because of Redis is a warning', async () => {
  const timedOut = new Error('Command timed out');
  const defer = () => Promise.reject(timedOut);
  expect(await failingWith(timedOut, ['request-T1'], { defer })).toMatchObject([{ level: 'warn', failures: null }]);
});

test('a delivery that cannot be deferred for another cause is an error with its stack: no task opens', async () => {
  const defer = () => Promise.reject(new Error('a fault'));
  const lines = await failingWith(new Error('Command timed out'), ['request-T1'], { defer });
  expect(lines).toMatchObject([{ level: 'error', failures: null, stack: expect.any(String) as unknown }]);
});

test('failures that Redis does not cause have a line for each delivery', async () => {
  const lines = await failingWith(new Error('a fault'), await acceptMany(2));
  expect(lines).toMatchObject([
    { level: 'warn', failures: 1, error: 'a fault' },
    { level: 'warn', failures: 1, error: 'a fault' },
  ]);
});

test.each(['a fault', 'Command timed out'])(
  'a delivery that fails with "%s" is logged as an error with its stack from the failure on that opens a task',
  async (message) => {
    const ids = await acceptMany(1);
    const lines = [];
    for (let failures = 1; failures <= 11; failures += 1) {
      // oxlint-disable-next-line eslint/no-await-in-loop
      lines.push(...(await failingWith(new Error(message), ids)));
    }

    const levels = lines.map(({ level, stack }) => `${level} ${stack === undefined ? 'without' : 'with'} stack`);
    expect(levels.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => 'warn without stack'));
    expect(levels.slice(9)).toEqual(['error with stack', 'error with stack']);
    expect(await stores.generalTasks()).toMatchObject([{ type: 'delivery_failing', towing_reference_id: 'T0' }]);
  },
);
