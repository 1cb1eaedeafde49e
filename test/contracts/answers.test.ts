import { OPERATIONS, type OperationName } from '../../src/contracts/service/operations';
import { failedRules } from '../../src/contracts/rules';
import { envelope } from '../../src/contracts/service/service';
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

describe('answers of operations', () => {
  test.each(names)('accepts the documented answer to %s', (name) => {
    expect(broken(name, ANSWERS[name])).toEqual([]);
  });

  test.each(names.flatMap((name) => REQUIRED[name].map((field) => [name, field] as const)))(
    'the answer to %s breaks its contract without %s',
    (name, field) => {
      expect(broken(name, without(ANSWERS[name], field))).toEqual([field]);
    },
  );

  test.each(names)('keeps undocumented fields in the answer to %s', (name) => {
    const answered = { ...ANSWERS[name], new_field: { deep: [1, null] } };

    expect(OPERATIONS[name].answer.parse(answered)).toEqual(answered);
  });

  test.each(names)('rejects an answer to %s that is not an object', (name) => {
    for (const data of [null, [], 'ok', 7, undefined]) expect(broken(name, data)).toEqual(['body']);
  });

  test.each(withMetadata)('accepts an answer to %s with metadata, null or none', (name) => {
    expect(broken(name, { ...ANSWERS[name], metadata: null })).toEqual([]);
    expect(broken(name, without(ANSWERS[name], 'metadata'))).toEqual([]);
    expect(broken(name, { ...ANSWERS[name], metadata: { other: 1 } })).toEqual([]);
  });

  test.each(withMetadata)(
    'rejects an answer to %s whose metadata.id is not text or whose metadata is not an object',
    (name) => {
      expect(broken(name, { ...ANSWERS[name], metadata: { id: 7 } })).toEqual(['metadata.id']);
      expect(broken(name, { ...ANSWERS[name], metadata: 'case-7' })).toEqual(['metadata']);
    },
  );
});

describe('the answer to an invoice request', () => {
  const withCharge = (charge: unknown) => ({ ...ANSWERS.invoice, towing_invoice: charge });

  test('accepts invoice amounts that are numbers or numeric texts', () => {
    expect(broken('invoice', withCharge({ total_amount: '345.00', paid_amount: 0, tax: '-45' }))).toEqual([]);
  });

  test('names every invoice amount that is neither a number nor a numeric text', () => {
    expect(broken('invoice', withCharge({ total_amount: 'free', paid_amount: null, tax: [1] }))).toEqual([
      'towing_invoice.total_amount',
      'towing_invoice.paid_amount',
      'towing_invoice.tax',
    ]);
    expect(broken('invoice', withCharge({}))).toHaveLength(3);
  });

  test('keeps unknown fields in the charges of an invoice answer', () => {
    const answered = withCharge({ total_amount: 1, paid_amount: 0, tax: 0, currency: 'SAR' });

    expect(OPERATIONS.invoice.answer.parse(answered)).toEqual(answered);
  });

  test('accepts an invoice answer without a delay invoice', () => {
    expect(broken('invoice', { ...ANSWERS.invoice, delay_invoice: null })).toEqual([]);
    expect(broken('invoice', without(ANSWERS.invoice, 'delay_invoice'))).toEqual([]);
  });
});

describe('the envelope of answers', () => {
  const whole = { code: 200, message: 'OK', data: {} };

  test('accepts an envelope with code, message, data and other fields', () => {
    const answered = { ...whole, data: { anything: 1 }, trace_id: 't-1' };

    expect(envelope.parse(answered)).toEqual(answered);
  });

  test.each(['code', 'message', 'data'])('rejects an envelope without %s', (field) => {
    expect(envelope.safeParse(without(whole, field)).success).toBe(false);
  });

  test.each([{ code: '200' }, { code: 1.5 }, { message: 7 }, { data: null }, { data: [] }])(
    'rejects an envelope with %j',
    (change) => {
      expect(envelope.safeParse({ ...whole, ...change }).success).toBe(false);
    },
  );
});
