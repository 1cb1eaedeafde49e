import { towDocument } from '../../src/contracts/records';
import { storedEntry } from '../../src/contracts/stored-outbox';
import { storedTowInvoice, storedTowRequest, WEBHOOKS } from '../../src/contracts/webhooks';
import { towAs } from '../domain/tows';

/** Metadata may be as large as a message; a list of tows reads that of every row. */
function untouchable(): { readonly [name: string]: never } {
  return new Proxy(
    {},
    {
      get: (_target, name) => {
        throw new Error(`somebody looked at ${String(name)}`);
      },
      ownKeys: () => {
        throw new Error('somebody looked at every name');
      },
    },
  );
}

test('what is stored of foreign objects is taken as it is: nobody walks through it, and nobody copies it', () => {
  const metadata = untouchable();
  const rival = { deliveryId: 'd', receivedAt: '2026-03-10T11:00:00Z', violationReferenceId: 'V-1', metadata };
  const invoice = { deliveryId: 'd', receivedAt: '2026-03-10T11:00:00Z', towingInvoice: metadata, delayInvoice: null };
  const stored = { ...towAs('detained'), metadata, rivalRequests: [rival], invoiceWebhooks: [invoice] };
  const tow = towDocument.parse(stored);
  expect(tow.metadata === metadata).toBe(true);
  expect(tow.rivalRequests[0]?.metadata === metadata).toBe(true);
  expect(tow.invoiceWebhooks[0]?.towingInvoice === metadata).toBe(true);
});

test('the contracts of webhooks look at the documented fields and walk through no other', () => {
  const references = { towing_reference_id: 'TW-1', violation_reference_id: 'V-1' };
  const common = { ...references, metadata: { id: 'patrol-17', more: untouchable() }, unknown: untouchable() };
  const charge = { total_amount: 115, paid_amount: '0', tax: 15, more: untouchable() };
  for (const schema of [WEBHOOKS.tow_request.body, storedTowRequest]) {
    expect(schema.parse(common).metadata === common.metadata).toBe(true);
  }
  for (const schema of [WEBHOOKS.tow_invoice.body, storedTowInvoice]) {
    const invoice = schema.parse({ ...common, towing_invoice: charge, delay_invoice: charge });
    expect(invoice.towing_invoice['more'] === charge.more).toBe(true);
  }
});

test('a stored object is an object', () => {
  for (const metadata of [[], 'text', 1, undefined]) {
    expect(towDocument.safeParse({ ...towAs('detained'), metadata }).success).toBe(false);
  }
  const report = { seq: 1, id: 'started-1', kind: 'started', createdAtMs: 1 };
  const parsed = (body: unknown) => storedEntry.safeParse({ ...report, body }).success;
  expect([parsed({}), parsed([]), parsed('{')]).toEqual([true, false, false]);
});
