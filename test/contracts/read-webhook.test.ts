import { WEBHOOK_READERS } from '../../src/contracts/webhook/read-webhook';
import { storedObject } from '../../src/domain/stored';
import type { DeliveryKind, JsonObject } from '../../src/domain/vocabulary';
import { WEBHOOK_BODIES } from './messages';

/** The documented body of a webhook as it is after transport. */
const sent = (kind: DeliveryKind): JsonObject => storedObject.parse(JSON.parse(JSON.stringify(WEBHOOK_BODIES[kind])));

/** The body without one field. */
const without = (body: JsonObject, field: string): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => name !== field));

/** The message in a body, and the fields whose differences were tolerated; or the fields that break the contract. */
function read(kind: DeliveryKind, body: JsonObject | string) {
  const result = WEBHOOK_READERS[kind](typeof body === 'string' ? body : JSON.stringify(body));
  return result.kind === 'message'
    ? { message: result.message, tolerated: result.tolerated.map(({ field, rule }) => `${field}: ${rule}`) }
    : { broken: result.rules.map(({ field, rule }) => `${field}: ${rule}`) };
}

const request = sent('tow_request');
const invoice = sent('tow_invoice');
const charge = storedObject.parse(invoice['towing_invoice']);
const withCharge = (changes: JsonObject) => ({ ...invoice, towing_invoice: { ...charge, ...changes } });

describe.each(['tow_request', 'tow_invoice'] as const)('reading the webhook %s', (kind) => {
  const body = kind === 'tow_request' ? request : invoice;

  test('returns a documented webhook unchanged and names no difference', () => {
    expect(read(kind, body)).toEqual({ message: body, tolerated: [] });
    for (const name of ['metadata', 'delay_invoice']) {
      expect(read(kind, without(body, name))).toEqual({ message: without(body, name), tolerated: [] });
      expect(read(kind, { ...body, [name]: null })).toMatchObject({ tolerated: [] });
    }
  });

  test('reads a webhook behind a byte order mark', () => {
    expect(read(kind, `\ufeff${JSON.stringify(body)}`)).toEqual({
      message: body,
      tolerated: ['body: begins with a byte order mark'],
    });
  });

  test('reads numeric references and a numeric id as their digits as sent, also beyond 2^53', () => {
    const text = JSON.stringify({
      ...body,
      towing_reference_id: 'A',
      violation_reference_id: 'B',
      metadata: { id: 'C', 'quoted "1"': 'a\\"12', amounts: [1.5, -2e3] },
    })
      .replace('"A"', '90071992547409931')
      .replace('"B"', ' 123 ')
      .replace('"C"', '12345678901234567890');
    expect(read(kind, text)).toEqual({
      message: {
        ...body,
        towing_reference_id: '90071992547409931',
        violation_reference_id: '123',
        metadata: { id: '12345678901234567890', 'quoted "1"': 'a\\"12', amounts: [1.5, -2e3] },
      },
      tolerated: [
        'metadata.id: is a number, not text',
        'towing_reference_id: is a number, not text',
        'violation_reference_id: is a number, not text',
      ],
    });
  });

  test.each([1.5, -7, true, {}, ['a']])('does not guess a reference from %j', (value) => {
    expect(read(kind, { ...body, towing_reference_id: value })).toMatchObject({
      broken: ['towing_reference_id: must be a non-empty string'],
    });
  });

  test('reads metadata that is sent as JSON text, and a numeric id in it', () => {
    const tolerated = ['metadata: is text that contains JSON'];
    expect(read(kind, { ...body, metadata: '{"id":"case-7","more":[1]}' })).toEqual({
      message: { ...body, metadata: { id: 'case-7', more: [1] } },
      tolerated,
    });
    expect(read(kind, { ...body, metadata: '{"id":90071992547409931}' })).toEqual({
      message: { ...body, metadata: { id: '90071992547409931' } },
      tolerated,
    });
  });

  test.each(['case-7', '[1]', '"text"', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`, '{"a":1e999}'])(
    'does not take the text %j for metadata',
    (metadata) => {
      expect(read(kind, { ...body, metadata })).toMatchObject({ broken: ['metadata: must be an object'] });
    },
  );

  test('takes empty metadata for none, and an id that is null for no id', () => {
    for (const metadata of ['', []]) {
      expect(read(kind, { ...body, metadata })).toEqual({
        message: without(body, 'metadata'),
        tolerated: ['metadata: is empty'],
      });
    }
    expect(read(kind, { ...body, metadata: { id: null, zone: 1 } })).toEqual({
      message: { ...body, metadata: { zone: 1 } },
      tolerated: ['metadata.id: is empty'],
    });
  });

  test('names the numbers that are not finite instead of reading them as null', () => {
    const text = JSON.stringify({ ...body, metadata: { id: 'a', far: 'FAR' } }).replace('"FAR"', '1e999');
    expect(read(kind, text)).toEqual({ broken: ['metadata.far: must be a finite number'] });
    const rest = { ...body, metadata: { id: 'a', far: null } };
    expect(WEBHOOK_READERS[kind](text)).toMatchObject({ kind: 'differs', rest });
  });

  test('keeps what is not finite in lists and below them as null', () => {
    const metadata = (far: number | null | string, less: number | null | string) => ({
      ...body,
      metadata: { id: 'a', list: [1, far, [less], { far, near: 2 }] },
    });
    const text = JSON.stringify(metadata('FAR', 'LESS')).replaceAll('"FAR"', '1e999').replace('"LESS"', '-1e999');
    const kept = metadata(null, null);
    expect(WEBHOOK_READERS[kind](text)).toMatchObject({ kind: 'differs', rest: kept });
  });
});

describe('reading the invoice webhook', () => {
  test('reads amounts with separators or Arabic digits as plain text', () => {
    const amounts = { total_amount: '1,150.00', paid_amount: '٠', tax: '١٥٠٫٥' };
    const rule = 'is an amount with separators or other digits';
    expect(read('tow_invoice', withCharge(amounts))).toEqual({
      message: withCharge({ total_amount: '1150.00', paid_amount: '0', tax: '150.5' }),
      tolerated: ['total_amount', 'paid_amount', 'tax'].map((name) => `towing_invoice.${name}: ${rule}`),
    });
  });

  test('reads numeric invoice and VAT numbers beyond 2^53 as their digits as sent', () => {
    const text = JSON.stringify(withCharge({ invoice_number: 'A', vat_number: 7, tax: 1.5 })).replace(
      '"A"',
      '20260114000000000123',
    );
    expect(read('tow_invoice', text)).toEqual({
      message: withCharge({ invoice_number: '20260114000000000123', vat_number: 7, tax: 1.5 }),
      tolerated: [],
    });
  });

  test('keeps an invoice number that looks like an amount with separators', () => {
    const message = withCharge({ invoice_number: '1,150', vat_number: '٣٠٠' });
    expect(read('tow_invoice', message)).toEqual({ message, tolerated: [] });
  });

  test('takes an empty amount and an empty delay invoice for none', () => {
    expect(read('tow_invoice', { ...withCharge({ tax: '' }), delay_invoice: [] })).toEqual({
      message: without({ ...invoice, towing_invoice: without(charge, 'tax') }, 'delay_invoice'),
      tolerated: ['delay_invoice: is empty', 'towing_invoice.tax: is empty'],
    });
  });

  test('does not guess an ambiguous amount', () => {
    expect(read('tow_invoice', withCharge({ tax: '12,50' }))).toMatchObject({
      broken: ['towing_invoice.tax: must be a number or a numeric string'],
    });
  });

  test('reads an invoice without a violation reference, because its towing reference names the tow', () => {
    for (const body of [without(invoice, 'violation_reference_id'), { ...invoice, violation_reference_id: null }]) {
      expect(read('tow_invoice', body)).toEqual({
        message: body,
        tolerated: ['violation_reference_id: is missing'],
      });
    }
  });
});

test('reads a message without the unknown fields of its body, however many there are', () => {
  const unknown = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`unknown${index}`, index]));
  expect(read('tow_invoice', { ...unknown, ...invoice })).toEqual({ message: invoice, tolerated: [] });
});

test('reads the body of an invoice on the path of tow requests as a tow request, and names the difference', () => {
  expect(read('tow_request', invoice)).toEqual({
    message: without(without(invoice, 'towing_invoice'), 'delay_invoice'),
    tolerated: ['towing_invoice: belongs to an invoice webhook'],
  });
});
