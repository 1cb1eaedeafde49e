import { documentedFields } from '../../src/contracts/service/contract-fields';
import { compareFields, type ObservedField, type ObservedMessage } from '../../src/domain/service/service-shapes';

/** Invoice webhooks whose towing invoice has this field, with a value of this type. */
function invoicesWith(name: string, type: string): ObservedMessage {
  const seen = { count: 3, firstSeenMs: 1, lastSeenMs: 2 };
  const fields: ObservedField[] = [
    { field: 'towing_invoice', type: 'object', ...seen },
    { field: `towing_invoice.${name}`, type, ...seen },
  ];
  return { samples: 3, firstSeenMs: 1, lastSeenMs: 2, fields };
}

describe.each(['invoice_number', 'vat_number'])('the documented field %s of an invoice webhook', (name) => {
  const documented = documentedFields('webhook', 'tow_invoice');
  const markOf = (type: string) =>
    compareFields(documented, invoicesWith(name, type)).find(({ field }) => field === `towing_invoice.${name}`)?.mark;

  test.each(['towing_invoice', 'delay_invoice'])('is optional in the %s, as text, number or null', (charge) => {
    expect(documented.find(({ field }) => field === `${charge}.${name}`)).toEqual({
      field: `${charge}.${name}`,
      types: ['string', 'number', 'null'],
      isRequired: false,
    });
  });

  test('is no difference when it is seen as text or number', () => {
    expect([markOf('string'), markOf('integer'), markOf('number')]).toEqual(['none', 'none', 'none']);
  });
});
