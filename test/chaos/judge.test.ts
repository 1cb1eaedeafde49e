import { judge } from './judge';
import type { PlayedTow } from './field-crew';
import type { ReportDecision } from './dispatcher';
import type { RecordedCall, RecordedWebhook } from './record';

/** The judge must find each kind of failure, otherwise its approval proves nothing. */

const REF = 'TW-1';
const KINDS = ['started', 'invoice', 'released'] as const;
const bodyOf = (kind: string) => ({ towing_reference_id: REF, kind });
const played: PlayedTow = {
  ref: REF,
  scenario: {
    name: 'a life',
    arrivesAtMs: 0,
    steps: [],
    hasEarlyInvoice: false,
    isRequestedTwice: false,
    violationScenario: null,
  },
  violation: null,
  violationReference: 'V-1',
  expected: KINDS.map((kind) => ({ kind, body: bodyOf(kind) })),
  facts: [],
  refusals: [],
};

const START_MS = Date.parse('2026-11-20T12:00:00Z');
const at = (seconds: number) => new Date(START_MS + seconds * 1000).toISOString();

/** A call that worked, `seconds` after the start. */
function call(operation: string, seconds: number, also: Partial<RecordedCall> = {}): RecordedCall {
  return {
    at: at(seconds),
    operation,
    body: bodyOf(operation),
    status: 200,
    effect: true,
    fault: null,
    hung_up: false,
    ...also,
  };
}
const LOST = { status: null, effect: true, fault: 'lost_answer' } as const;
const FAILED = { status: 500, effect: false, fault: '500' } as const;
const THROTTLED = { status: 429, effect: false, fault: '429' } as const;

function webhook(seconds: number | null, id = 'w1'): RecordedWebhook {
  const status = seconds === null ? null : 200;
  const answeredAt = seconds === null ? null : at(seconds);
  const about = { kind: 'tow_invoice', towing_reference_id: REF, webhook_id: id, fault: null };
  return { ...about, at: at(0), status, answered_at: answeredAt };
}
function again(seconds: number): ReportDecision {
  return { ref: REF, reportId: 'invoice-2', action: 'retry', atMs: START_MS + seconds * 1000 };
}

const judged = (
  calls: readonly RecordedCall[],
  also: { webhooks?: readonly RecordedWebhook[]; decisions?: readonly ReportDecision[] } = {},
) =>
  judge([played], {
    calls,
    webhooks: [],
    violations: [],
    orders: [],
    decisions: [],
    violationDecisions: [],
    ...also,
  });
const invoices = (...creates: readonly RecordedCall[]) => [call('started', 0), ...creates, call('released', 60)];

describe('judge: accepts', () => {
  test.each([
    ['every report once, in order', KINDS.map((kind, index) => call(kind, index))],
    [
      'a report repeated until it was taken',
      [
        call('started', 0, FAILED),
        call('started', 1, LOST),
        call('started', 2),
        call('invoice', 3),
        call('released', 4),
      ],
    ],
    [
      'a call that was read when its sender had given up',
      [...KINDS.map((kind, index) => call(kind, index)), call('invoice', 9, { hung_up: true })],
    ],
    ['a second create when nothing came of the first in time', invoices(call('invoice', 1, LOST), call('invoice', 6))],
    [
      'any number of creates that surely made nothing',
      invoices(
        call('invoice', 1, THROTTLED),
        call('invoice', 3, FAILED),
        call('invoice', 7, FAILED),
        call('invoice', 20),
      ),
    ],
  ])('the judge accepts %s', (_what, calls) => {
    expect(judged(calls)).toMatchObject({ problems: [], reports: { missing: 0, taken: 3, outOfOrder: 0 } });
  });

  test('the judge accepts a create that is retried by hand after two of unknown outcome', () => {
    const creates = [call('invoice', 1, LOST), call('invoice', 6, LOST), call('invoice', 20)];
    expect(judged(invoices(...creates), { decisions: [again(15)] }).problems).toEqual([]);
  });

  test('the judge accepts a second create whose claim came before the webhook', () => {
    const creates = [call('invoice', 1, LOST), call('invoice', 6)];
    expect(judged(invoices(...creates), { webhooks: [webhook(5.9)] }).problems).toEqual([]);
  });
});

describe('judge: finds', () => {
  const whole = KINDS.map((kind, index) => call(kind, index));

  test('the judge finds a report that never worked', () => {
    const { reports } = judged([call('started', 0), call('invoice', 1, FAILED), call('released', 2)]);
    expect(reports).toMatchObject({ missing: 1, taken: 2 });
  });

  test.each([
    ['two reports the other way round', [call('invoice', 0), call('started', 1), call('released', 2)]],
    ['a report that comes back after a later one', [...whole, call('started', 5)]],
    ['a report that came too early and did not even work', [call('invoice', 0, FAILED), ...whole]],
  ])('the judge finds disorder: %s', (_what, calls) => {
    expect(judged(calls).reports.outOfOrder).toBe(1);
  });

  test.each([
    ['of a report that worked', call('started', 0, { body: { towing_reference_id: REF, kind: 'else' } })],
    ['of a report that failed', call('started', 0, { ...FAILED, body: { towing_reference_id: REF } })],
  ])('the judge finds a wrong body %s', (_what, wrong) => {
    const { reports, problems } = judged([wrong, ...whole]);
    expect(reports.wrongBodies).toBe(1);
    expect(problems).toHaveLength(1);
  });

  test('the judge finds a report without a fact', () => {
    const { reports } = judged([...whole, call('payment', 5)]);
    expect(reports).toMatchObject({ wrongBodies: 1, outOfOrder: 1 });
  });

  test('the judge finds a report about a tow that was not ordered', () => {
    const stray = call('started', 9, { body: { towing_reference_id: 'TW-2' } });
    expect(judged([...whole, stray]).problems).toHaveLength(1);
  });

  test.each([
    ['in time', 1.5, 4.1],
    ['late, and long before the second create', 5, 11.1],
  ])(
    'the judge finds a second create although the webhook of the first was acknowledged %s',
    (_what, webhookAt, secondAt) => {
      const calls = invoices(call('invoice', 1, LOST), call('invoice', secondAt));
      expect(judged(calls, { webhooks: [webhook(webhookAt)] }).reports.forbiddenSecondCreates).toBe(1);
      expect(judged(calls, { webhooks: [webhook(null)] }).reports.forbiddenSecondCreates).toBe(0);
    },
  );

  test.each([
    ['after two without an answer', [call('invoice', 1, LOST), call('invoice', 6, LOST), call('invoice', 11)]],
    [
      'after one without an answer and one that failed',
      [call('invoice', 1, LOST), call('invoice', 6, FAILED), call('invoice', 11)],
    ],
    ['after two whose answers were not heard', [call('invoice', 1), call('invoice', 30), call('invoice', 59)]],
  ])('the judge finds a third create %s', (_what, creates) => {
    expect(judged(invoices(...creates)).reports.thirdCreates).toBe(1);
  });
});
