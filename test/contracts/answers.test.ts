import { OPERATIONS, type OperationName } from '../../src/contracts/operations';
import { failedRules } from '../../src/contracts/rules';
import { envelope } from '../../src/contracts/service';
import { ANSWERS, without } from './messages';

const REQUIRED: Record<OperationName, string[]> = {
  token: ['token'],
  started: ['towing_reference_id'],
  detained: ['towing_reference_id'],
  canceled: ['towing_reference_id'],
  released: ['towing_reference_id'],
  invoice: ['towing_reference_id', 'towing_invoice'],
  payment: ['towing_reference_id'],
  violation: ['violation_reference_id', 'status'],
  violation_guide: ['id', 'canTow'],
  capacity: ['zoneId', 'availableSlots'],
  ticket: ['hasActiveTicket'],
};
const names = [
  'token',
  'started',
  'detained',
  'canceled',
  'released',
  'invoice',
  'payment',
  'violation',
  'violation_guide',
  'capacity',
  'ticket',
] as const satisfies OperationName[];
const withMetadata = ['started', 'detained', 'canceled', 'released', 'invoice', 'payment', 'violation'] as const;

/** The fields on which the data of an answer breaks its contract. */
function broken(name: OperationName, data: unknown): string[] {
  const result = OPERATIONS[name].answer.safeParse(data);
  return result.success ? [] : failedRules(result.error).map(({ field }) => field);
}

describe('the answer to', () => {
  test.each(names)('%s keeps the contract as documented', (name) => {
    expect(broken(name, ANSWERS[name])).toEqual([]);
  });

  test.each(names.flatMap((name) => REQUIRED[name].map((field) => [name, field] as const)))(
    '%s breaks it without %s',
    (name, field) => {
      expect(broken(name, without(ANSWERS[name], field))).toEqual([field]);
    },
  );

  test.each(names)('%s keeps fields nobody told us of', (name) => {
    const answered = { ...ANSWERS[name], new_field: { deep: [1, null] } };

    expect(OPERATIONS[name].answer.parse(answered)).toEqual(answered);
  });

  test.each(names)('%s breaks it when it is no object', (name) => {
    for (const data of [null, [], 'ok', 7, undefined]) expect(broken(name, data)).toEqual(['body']);
  });

  test.each(withMetadata)('%s may echo metadata, null or none', (name) => {
    expect(broken(name, { ...ANSWERS[name], metadata: null })).toEqual([]);
    expect(broken(name, without(ANSWERS[name], 'metadata'))).toEqual([]);
    expect(broken(name, { ...ANSWERS[name], metadata: { other: 1 } })).toEqual([]);
  });

  test.each(withMetadata)('%s breaks it when metadata.id is no text or metadata no object', (name) => {
    expect(broken(name, { ...ANSWERS[name], metadata: { id: 7 } })).toEqual(['metadata.id']);
    expect(broken(name, { ...ANSWERS[name], metadata: 'case-7' })).toEqual(['metadata']);
  });
});

describe('the answer to a create invoice', () => {
  const withCharge = (charge: unknown) => ({ ...ANSWERS.invoice, towing_invoice: charge });

  test('has amounts that are numbers or numeric texts', () => {
    expect(broken('invoice', withCharge({ total_amount: '345.00', paid_amount: 0, tax: '-45' }))).toEqual([]);
  });

  test('breaks the contract by every amount that is neither, each by name', () => {
    expect(broken('invoice', withCharge({ total_amount: 'free', paid_amount: null, tax: [1] }))).toEqual([
      'towing_invoice.total_amount',
      'towing_invoice.paid_amount',
      'towing_invoice.tax',
    ]);
    expect(broken('invoice', withCharge({}))).toHaveLength(3);
  });

  test('keeps unknown fields inside its charges', () => {
    const answered = withCharge({ total_amount: 1, paid_amount: 0, tax: 0, currency: 'SAR' });

    expect(OPERATIONS.invoice.answer.parse(answered)).toEqual(answered);
  });

  test('may have no delay invoice', () => {
    expect(broken('invoice', { ...ANSWERS.invoice, delay_invoice: null })).toEqual([]);
    expect(broken('invoice', without(ANSWERS.invoice, 'delay_invoice'))).toEqual([]);
  });
});

describe('the envelope', () => {
  const whole = { code: 200, message: 'OK', data: {} };

  test('is code, message and data, and keeps what else it holds', () => {
    const answered = { ...whole, data: { anything: 1 }, trace_id: 't-1' };

    expect(envelope.parse(answered)).toEqual(answered);
  });

  test.each(['code', 'message', 'data'])('is broken without %s', (field) => {
    expect(envelope.safeParse(without(whole, field)).success).toBe(false);
  });

  test.each([{ code: '200' }, { code: 1.5 }, { message: 7 }, { data: null }, { data: [] }])(
    'is broken by %j',
    (change) => {
      expect(envelope.safeParse({ ...whole, ...change }).success).toBe(false);
    },
  );
});
