import { towDocument } from '../../src/domain/tow/tow';
import { storedEntry } from '../../src/domain/outbox/entry';
import { towInvoiceWebhook, towRequestWebhook } from '../../src/contracts/webhook/webhooks';
import { towAs } from '../domain/tows';

/** An object that throws on any read. Metadata may be large, and a list of tows reads the metadata of every row. */
function untouchable(): { readonly [name: string]: never } {
  return new Proxy(
    {},
    {
      get: (_target, name) => {
        throw new Error(`unexpected read of ${String(name)}`);
      },
      ownKeys: () => {
        throw new Error('unexpected enumeration');
      },
    },
  );
}

test('parses a stored tow without reading or copying the foreign objects in it', () => {
  const metadata = untouchable();
  const rival = { deliveryId: 'd', receivedAt: '2026-03-10T11:00:00Z', violationReferenceId: 'V-1', metadata };
  const invoice = { deliveryId: 'd', receivedAt: '2026-03-10T11:00:00Z', towingInvoice: metadata, delayInvoice: null };
  const stored = { ...towAs('detained'), metadata, rivalRequests: [rival], invoiceWebhooks: [invoice] };
  const tow = towDocument.parse(stored);
  expect(tow.metadata === metadata).toBe(true);
  expect(tow.rivalRequests[0]?.metadata === metadata).toBe(true);
  expect(tow.invoiceWebhooks[0]?.towingInvoice === metadata).toBe(true);
});

test('validates only the documented fields of webhooks', () => {
  const references = { towing_reference_id: 'TW-1', violation_reference_id: 'V-1' };
  const common = { ...references, metadata: { id: 'patrol-17', more: untouchable() }, unknown: untouchable() };
  const charge = { total_amount: 115, paid_amount: '0', tax: 15, more: untouchable() };
  expect(towRequestWebhook.parse(common).metadata === common.metadata).toBe(true);
  const invoice = towInvoiceWebhook.parse({ ...common, towing_invoice: charge, delay_invoice: charge });
  expect(invoice.towing_invoice['more'] === charge.more).toBe(true);
});

test('rejects a stored object that is not an object', () => {
  for (const metadata of [[], 'text', 1, undefined]) {
    expect(towDocument.safeParse({ ...towAs('detained'), metadata }).success).toBe(false);
  }
  const report = { seq: 1, id: 'started-1', kind: 'started', createdAtMs: 1 };
  const parsed = (body: unknown) => storedEntry.safeParse({ ...report, body }).success;
  expect([parsed({}), parsed([]), parsed('{')]).toEqual([true, false, false]);
});
