import { refusedTask } from '../../src/domain/outbox/escalate-entry';
import {
  connectionTask,
  differenceTask,
  failingDeliveryTask,
  invoiceMismatchTask,
  parkedInvoiceTask,
  rivalRequestTask,
} from '../../src/domain/ops/tasks';
import { REPORT_KINDS } from '../../src/domain/vocabulary';

const refusal = { id: 'r1', kind: 'started', httpStatus: 400, message: 'Missing required field', hint: null } as const;

describe('the task of a refusal', () => {
  test("the task of a refusal shows the service's message and status", () => {
    const task = refusedTask(refusal);

    expect(task.message).toContain('"Missing required field"');
    expect(task.message).toContain('400');
    expect(task).toMatchObject({ type: 'report_refused', report_id: 'r1', http_status: 400, hint: null });
  });

  test('the task of a refusal notes that the service sent no message', () => {
    expect(refusedTask({ ...refusal, message: null }).message).toContain('without a message');
  });

  test('the task of a refusal notes that an earlier unanswered attempt may have worked', () => {
    const task = refusedTask({ ...refusal, hint: 'perhaps_already_accepted' });

    expect(task.hint).toBe('perhaps_already_accepted');
    expect(task.message).toContain('may have worked');
    expect(refusedTask(refusal).message).not.toContain('may have worked');
  });

  test.each(['started', 'canceled', 'invoice', 'payment'] as const)(
    'the task of a refusal of %s lets a person correct, retry, waive or accept',
    (kind) => {
      expect(refusedTask({ ...refusal, kind }).actions).toEqual(['correct', 'retry', 'waive', 'accept']);
    },
  );

  test.each(['detained', 'released'] as const)('the task of a refused %s report offers no correction', (kind) => {
    expect(refusedTask({ ...refusal, kind }).actions).toEqual(['retry', 'waive', 'accept']);
  });

  test('the task of a refusal has a subject derived from the report, so that opening is idempotent', () => {
    expect(refusedTask(refusal).subject).toBe(refusedTask({ ...refusal, message: 'Invalid enum value' }).subject);
    expect(refusedTask(refusal).subject).not.toBe(refusedTask({ ...refusal, id: 'r2' }).subject);
  });
});

describe('all tasks', () => {
  const differing = differenceTask({
    id: 'answer.invoice.1',
    source: 'answer',
    name: 'invoice',
    shape: ['data: is required (object)'],
    isTolerated: false,
    example: [],
  });
  const metBy = { kind: 'started', towingReference: 'T1' } as const;
  const all = [
    ...REPORT_KINDS.map((kind) => refusedTask({ ...refusal, kind })),
    differing,
    connectionTask('the token was refused', metBy),
    invoiceMismatchTask(['towing_invoice.tax']),
    rivalRequestTask,
    parkedInvoiceTask,
    failingDeliveryTask('dlv_1'),
  ];

  test('the task about a kind of odd answers names the operation and what differs, and offers to expect it', () => {
    expect(differing).toMatchObject({
      type: 'answer_differs',
      operation: 'invoice',
      difference_id: 'answer.invoice.1',
    });
    expect(differing.actions).toEqual(['expect']);
    expect(differing.message).toContain('data: is required (object)');
  });

  test('one task about the connection is opened for every cause, without actions', () => {
    expect(connectionTask('HTTP 302', metBy).subject).toBe(connectionTask('no token', metBy).subject);
    expect(connectionTask('HTTP 302', metBy).actions).toEqual([]);
    expect(connectionTask('HTTP 302', metBy).message).toContain('HTTP 302');
  });

  test('the task about an invoice names every differing amount', () => {
    expect(invoiceMismatchTask(['towing_invoice.tax', 'delay_invoice.total_amount']).message).toContain(
      'towing_invoice.tax, delay_invoice.total_amount',
    );
  });

  test('the task about a second tow request explains that the first one is kept', () => {
    expect(rivalRequestTask.message).toContain('first one is kept');
  });

  test('every task has a message, a type and a subject', () => {
    for (const { subject, type, message } of all) {
      expect([subject, type, message].every((text) => text.length > 0)).toBe(true);
      expect(type).toMatch(/^[a-z_]+$/);
    }
  });
});
