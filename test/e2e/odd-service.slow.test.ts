import { OPERATIONS, type OperationName } from '../../src/contracts/service/operations';
import { ODD_PROFILE } from '../../src/simulator/profile';
import { SIMULATED_OPERATIONS } from '../../src/simulator/answer/faults';
import type { RecordedExchange } from '../support/recorder';
import { useRedis } from '../support/redis';
import { playOddDay, type OddDay } from './odd-day';
import { ODD_DIFFERENCES } from './odd-differences';

jest.setTimeout(240_000);
const redis = useRedis();
let day: OddDay;

beforeAll(async () => {
  day = await playOddDay(redis);
});

/** The operation of a call of the day. */
function operationOf({ path, method }: RecordedExchange): OperationName | undefined {
  return SIMULATED_OPERATIONS.find(
    (name) => method === OPERATIONS[name].method && path === `/odd${ODD_PROFILE.paths[name] ?? OPERATIONS[name].path}`,
  );
}

/** True if the service acted on the call: a refusal of the day may be a 200 with another code in its body. */
function hadEffect({ status, answer }: RecordedExchange): boolean {
  return status >= 200 && status < 300 && !/^\{"code":"4\d\d"/.test(answer);
}

test.each(ODD_DIFFERENCES)('the service of the day differs from its document: %s', (_difference, proof) => {
  expect(proof(day)).not.toEqual([]);
});

test('the day has at least 20 differences', () => {
  expect(ODD_DIFFERENCES.length).toBeGreaterThanOrEqual(20);
});

test('the odd service accepts every report once and in order', () => {
  for (const { view, expected } of day.tows) {
    const ref = view.towing_reference_id;
    const accepted = day.calls.filter(
      (call) => hadEffect(call) && call.body.includes(`"towing_reference_id":"${ref}"`),
    );
    expect([ref, accepted.map(operationOf)]).toEqual([ref, expected]);
    const simulated = day.simulated.find((tow) => tow.towing_reference_id === ref);
    expect(simulated).toMatchObject({
      statuses: expected.filter((kind) => kind !== 'invoice' && kind !== 'payment'),
      invoices: expected.includes('invoice') ? 1 : 0,
      payment_status: expected.includes('payment') ? 'PAID' : null,
    });
  }
  expect(day.simulated).toHaveLength(day.tows.length);
});

test('the odd service accepts every violation once', () => {
  expect(day.violations.map(({ state }) => state)).toEqual(['accepted', 'accepted', 'accepted']);
  expect(day.calls.filter((call) => operationOf(call) === 'violation' && hadEffect(call))).toHaveLength(3);
});

test('every webhook of the odd service is answered 200 and acted on, or kept', () => {
  expect(day.webhooks.filter(({ status }) => status !== 200)).toEqual([]);
  expect(new Set(day.deliveries.map(({ state }) => state))).toEqual(new Set(['processed']));
  const posted = day.webhooks.filter(({ path }) => /\/(tow-request|tow\/invoice)$/.test(path));
  expect(day.deliveries.reduce((copies, delivery) => copies + delivery.copies, 0)).toBe(posted.length);
  expect(day.otherCalls).toHaveLength(day.webhooks.length - posted.length);
});

test('the odd service causes at most one task per kind of difference, and no other task', () => {
  expect(new Set(day.tasks.map(({ type }) => type))).toEqual(new Set(['answer_differs']));
  expect(day.tasks.filter(({ report, violation }) => report !== null || violation !== null)).toEqual([]);
  const operations = day.tasks.map(({ id }) => id);
  expect(new Set(operations).size).toBe(operations.length);
});

test('nothing that the odd service was promised or promised is lost', () => {
  const { deliveries, reports, violations } = day.conservation;
  expect([deliveries.lost, reports.lost, violations.lost]).toEqual([0, 0, 0]);
  expect(reports.acknowledged).toBe(day.tows.reduce((sum, { expected }) => sum + expected.length, 0));
});
