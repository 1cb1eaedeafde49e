import {
  connectionTask,
  contractBrokenTask,
  failingDeliveryTask,
  invoiceMismatchTask,
  parkedInvoiceTask,
  refusedTask,
  rivalRequestTask,
} from '../../src/domain/tasks';
import { REPORT_KINDS } from '../../src/domain/vocabulary';

const refusal = { id: 'r1', kind: 'started', httpStatus: 400, words: 'Missing required field', hint: null } as const;

describe('the task of a refused report', () => {
  test("shows the service's own words and status", () => {
    const task = refusedTask(refusal);

    expect(task.message).toContain('"Missing required field"');
    expect(task.message).toContain('400');
    expect(task).toMatchObject({ type: 'report_refused', report_id: 'r1', http_status: 400, hint: null });
  });

  test('says so when the service gave no words', () => {
    expect(refusedTask({ ...refusal, words: null }).message).toContain('without a word');
  });

  test('says that it may have worked when an earlier try got no answer', () => {
    const task = refusedTask({ ...refusal, hint: 'perhaps_already_accepted' });

    expect(task.hint).toBe('perhaps_already_accepted');
    expect(task.message).toContain('may have worked');
    expect(refusedTask(refusal).message).not.toContain('may have worked');
  });

  test.each(['started', 'canceled', 'invoice', 'payment'] as const)(
    'of %s lets a person correct, retry, waive or accept',
    (kind) => {
      expect(refusedTask({ ...refusal, kind }).actions).toEqual(['correct', 'retry', 'waive', 'accept']);
    },
  );

  test.each(['detained', 'released'] as const)('of %s offers no correction: there is nothing to correct', (kind) => {
    expect(refusedTask({ ...refusal, kind }).actions).toEqual(['retry', 'waive', 'accept']);
  });

  test('has the same subject for the same report and another for another, so that opening it twice is opening it once', () => {
    expect(refusedTask(refusal).subject).toBe(refusedTask({ ...refusal, words: 'Invalid enum value' }).subject);
    expect(refusedTask(refusal).subject).not.toBe(refusedTask({ ...refusal, id: 'r2' }).subject);
  });
});

describe('a task', () => {
  const broken = contractBrokenTask({ id: 'r1', kind: 'invoice', httpStatus: 200 });
  const metBy = { kind: 'started', towingReference: 'T1' } as const;
  const all = [
    ...REPORT_KINDS.map((kind) => refusedTask({ ...refusal, kind })),
    broken,
    connectionTask('the token was refused', metBy),
    invoiceMismatchTask(['towing_invoice.tax']),
    rivalRequestTask,
    parkedInvoiceTask,
    failingDeliveryTask('dlv_1'),
  ];

  test('about a broken answer says that the report was accepted, and offers to send it again', () => {
    expect(broken).toMatchObject({ type: 'answer_broken', report_id: 'r1', http_status: 200 });
    expect(broken.actions).toEqual(['resolve', 'retry']);
    expect(broken.message).toContain('accepted the invoice report');
  });

  test('about a broken answer is not the one about a refusal of the same report', () => {
    expect(broken.subject).not.toBe(refusedTask({ ...refusal, kind: 'invoice' }).subject);
  });

  test('about the connection is one task whatever the cause, and a person can only mend the cause', () => {
    expect(connectionTask('HTTP 302', metBy).subject).toBe(connectionTask('no token', metBy).subject);
    expect(connectionTask('HTTP 302', metBy).actions).toEqual([]);
    expect(connectionTask('HTTP 302', metBy).message).toContain('HTTP 302');
  });

  test('about an invoice names every amount that differs', () => {
    expect(invoiceMismatchTask(['towing_invoice.tax', 'delay_invoice.total_amount']).message).toContain(
      'towing_invoice.tax, delay_invoice.total_amount',
    );
  });

  test('about a second tow request says that the first is kept', () => {
    expect(rivalRequestTask.message).toContain('first one is kept');
  });

  test('always has words, a type and a subject', () => {
    for (const { subject, type, message } of all) {
      expect([subject, type, message].every((text) => text.length > 0)).toBe(true);
      expect(type).toMatch(/^[a-z_]+$/);
    }
  });
});
