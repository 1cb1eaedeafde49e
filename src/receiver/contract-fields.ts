import { invoiceCharge, WEBHOOKS } from '../contracts/webhooks';
import type { FieldRule } from '../domain/refusal';

/** Field names of the contract. Other names are chosen by the sender and must not be logged or kept. */
const CONTRACT_FIELDS: ReadonlySet<string> = new Set([
  'body',
  'metadata.id',
  ...Object.values(WEBHOOKS).flatMap(({ body }) => Object.keys(body.shape)),
  ...['towing_invoice', 'delay_invoice'].flatMap((charge) =>
    Object.keys(invoiceCharge.shape).map((name) => `${charge}.${name}`),
  ),
]);

/** The names of these fields, at any depth. */
export const CONTRACT_NAMES: ReadonlySet<string> = new Set([...CONTRACT_FIELDS].flatMap((field) => field.split('.')));

/** The failing fields and rules, without text of the sender. */
export function withoutForeignNames(details: readonly FieldRule[]): FieldRule[] {
  return details.map(({ field, rule }) => ({
    field: CONTRACT_FIELDS.has(field) ? field : '(not of the contract)',
    rule,
  }));
}
