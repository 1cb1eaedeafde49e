import { z } from 'zod';
import { FACT_CONTRACTS } from '../../src/contracts/tow/facts';
import { failedRules } from '../../src/contracts/rules';
import { violationForm } from '../../src/contracts/service/service';
import { towInvoiceWebhook } from '../../src/contracts/webhook/webhooks';

/** Field and rule of every failure of a value. */
function rulesOf(schema: z.ZodType, value: unknown) {
  const result = schema.safeParse(value);
  return result.success ? [] : failedRules(result.error);
}

describe('failedRules', () => {
  test('failedRules names every failing field with its rule', () => {
    expect(
      rulesOf(FACT_CONTRACTS.started.body, { plate_number: ' ', latitude: 91, longitude: 'east', speed: 3, by: 1 }),
    ).toEqual([
      { field: 'plate_number', rule: 'must not be empty' },
      { field: 'latitude', rule: 'must be at most 90' },
      { field: 'longitude', rule: 'must be of type number' },
      { field: 'speed', rule: 'is not a known field' },
      { field: 'by', rule: 'is not a known field' },
    ]);
  });

  test('failedRules reports a missing field as required, with its type', () => {
    const schema = z.object({ name: z.string(), days: z.int(), deep: z.object({ flag: z.boolean() }) });

    expect(rulesOf(schema, { deep: {} })).toEqual([
      { field: 'name', rule: 'is required (string)' },
      { field: 'days', rule: 'is required (number)' },
      { field: 'deep.flag', rule: 'is required (boolean)' },
    ]);
  });

  test('failedRules names the unit of a length limit', () => {
    const schema = z.object({ name: z.string().max(3), list: z.array(z.int()).min(2), days: z.int().max(9) });

    expect(rulesOf(schema, { name: 'four', list: [1], days: 10 })).toEqual([
      { field: 'name', rule: 'must be at most 3 characters' },
      { field: 'list', rule: 'must be at least 2 items' },
      { field: 'days', rule: 'must be at most 9' },
    ]);
  });

  test('failedRules lists the allowed values of a field', () => {
    expect(rulesOf(z.object({ mode: z.enum(['a', 'b']) }), { mode: 'c' })).toEqual([
      { field: 'mode', rule: 'must be one of a, b' },
    ]);
  });

  test('failedRules keeps the path to a field through objects and lists', () => {
    const schema = z.object({ items: z.array(z.object({ name: z.string() })) });

    expect(rulesOf(schema, { items: [{ name: 'a' }, { name: 1 }] })).toEqual([
      { field: 'items.1.name', rule: 'must be of type string' },
    ]);
  });

  test('failedRules names an unknown field with its path', () => {
    const schema = z.object({ deep: z.strictObject({ known: z.string() }) });

    expect(rulesOf(schema, { deep: { known: 'a', unknown: 1 } })).toEqual([
      { field: 'deep.unknown', rule: 'is not a known field' },
    ]);
  });

  test('failedRules uses the field name body for a fault of the whole message', () => {
    expect(rulesOf(FACT_CONTRACTS.detained.body, 'text')).toEqual([{ field: 'body', rule: 'must be an object' }]);
  });

  test('failedRules describes an invalid amount in plain words', () => {
    const webhook = { violation_reference_id: 'V', towing_reference_id: 'TW', towing_invoice: { tax: 'free' } };

    expect(rulesOf(towInvoiceWebhook, webhook)).toEqual([
      { field: 'towing_invoice.tax', rule: 'must be a number or a numeric string' },
    ]);
  });

  test('failedRules never shows a value', () => {
    const secret = 'MARKER-5521';
    const everyFieldWrong = Object.fromEntries(Object.keys(violationForm.shape).map((name) => [name, [secret]]));
    const texts = [
      ...rulesOf(violationForm, everyFieldWrong),
      ...rulesOf(violationForm, { plateType: secret, violationType: secret, zoneId: secret, latitude: secret }),
      ...rulesOf(FACT_CONTRACTS.started.body, { plate_number: secret.repeat(50), latitude: secret }),
      ...rulesOf(towInvoiceWebhook, { towing_invoice: { tax: secret }, metadata: { id: [secret] } }),
    ].map(({ rule }) => rule);

    expect(texts.length).toBeGreaterThan(20);
    expect(texts.join('\n')).not.toContain('MARKER');
  });
});
