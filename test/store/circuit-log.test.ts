import { recordsOf } from '../../src/store/outbox/records';
import { FAILING, FORBIDDEN, NO_TOKEN, refusedWith } from '../support/exchanges';
import { recordedLog, type RecordedLine } from '../support/recorded-log';
import { letTry, setCircuit } from '../support/stored-records';
import { ACCEPTED, mustClaim, result, START, useStores } from '../support/stores';

let lines: readonly RecordedLine[];
const stores = useStores();
beforeEach(() => {
  const recorded = recordedLog();
  lines = recorded.lines;
  recordsOf(stores.redis).logCircuits(recorded.log);
});

const REFUSED = { next: 'refused', hint: null } as const;
const FAILED = { next: 'retry', delayMs: 0, because: 'failed' } as const;
const NO_CONNECTION = { next: 'hold', delayMs: 0, because: 'connection' } as const;

async function end(ref: string, ended: ReturnType<typeof result>): Promise<void> {
  await stores.outbox.settle(await mustClaim(stores.outbox, ref), ended);
}

beforeEach(async () => {
  for (const ref of ['A', 'B', 'C']) {
    await stores.request(ref);
    await stores.say(ref, START);
  }
});

test('the opening and the closing of a circuit have one line each in the log, with circuit and cause', async () => {
  await end('A', result(NO_CONNECTION, { exchange: { ...NO_TOKEN, cause: 'token_http_401' } }));
  await letTry(stores.redis, 'connection');
  await end('B', result(NO_CONNECTION, { exchange: { ...NO_TOKEN, cause: 'token_timeout' } }));
  const about = { circuit: 'connection', cause: 'token_http_401' };
  expect(lines).toEqual([{ level: 'warn', event: 'circuit.opened', ...about }]);

  await setCircuit(stores.redis, 'connection', { untilMs: 1, sinceMs: Date.now() - 60_000 });
  await end('C', result(ACCEPTED));

  expect(lines.slice(1)).toMatchObject([{ level: 'info', event: 'circuit.closed', ...about }]);
  expect(lines[1]?.['duration_ms']).toBeGreaterThanOrEqual(60_000);
});

test('the line of an outage has the last failure as its cause', async () => {
  for (const ref of ['A', 'B', 'C', 'A']) await end(ref, result(FAILED, { exchange: FAILING }));
  expect(lines).toEqual([]);

  await end('B', result(FAILED, { exchange: refusedWith(502) }));

  expect(lines).toEqual([{ level: 'warn', event: 'circuit.opened', circuit: 'outage', cause: 'http_502' }]);
});

test('the line of a paused operation does not quote the service', async () => {
  const exchange = { ...FORBIDDEN, message: 'Access denied for plate 1234 ABC' };
  for (const ref of ['A', 'B', 'C']) await end(ref, result(REFUSED, { exchange }));

  expect(lines).toEqual([{ level: 'warn', event: 'circuit.opened', circuit: 'paused.started', cause: 'http_403' }]);
});

test('a circuit that an earlier version opened is logged without a cause when it closes', async () => {
  await setCircuit(stores.redis, 'outage', {});

  await end('A', result(ACCEPTED));

  expect(lines).toMatchObject([{ event: 'circuit.closed', circuit: 'outage', cause: null }]);
});
