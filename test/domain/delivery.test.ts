import { settleDelivery, type Delivery } from '../../src/domain/webhook/delivery';
import { absentTow } from '../support/absent-tow';

const RECEIVED_AT_MS = 1_700_000_000_000;

function waiting(): Delivery {
  return {
    id: 'dlv_1',
    version: '1.a',
    kind: 'tow_request',
    towingReferenceId: 'T1',
    rawBody: '{}',
    verified: false,
    signatureId: null,
    signedAtMs: null,
    state: 'waiting',
    verdict: null,
    receivedAtMs: RECEIVED_AT_MS,
    processedAtMs: null,
    parkedAtMs: null,
    differenceId: null,
    copies: 1,
    failures: 3,
    replays: 0,
    changeCount: 1,
  };
}

test.each([
  ['later than it was received', 40, 40],
  ['no earlier than it was received, although the estimated time of Redis is behind', -11, 0],
])('a delivery is processed %s', (_when, elapsedMs, processedAfterMs) => {
  const delivery = waiting();

  settleDelivery(delivery, absentTow('T1'), 'created', RECEIVED_AT_MS + elapsedMs);

  expect(delivery).toMatchObject({ state: 'processed', verdict: 'created', failures: 0 });
  expect(delivery.processedAtMs).toBe(RECEIVED_AT_MS + processedAfterMs);
});
