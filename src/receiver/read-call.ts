import { createHash } from 'node:crypto';
import { failedRules } from '../contracts/rules';
import { jsonObject } from '../contracts/common';
import { WEBHOOKS } from '../contracts/webhooks';
import { canonicalJson } from '../domain/canonical';
import type { FieldRule } from '../domain/refusal';
import type { DeliveryKind } from '../domain/vocabulary';
import type { NewDelivery } from '../workflow/ports';

/** A call that keeps the contract becomes a delivery; another becomes the list of rules it breaks. */
export type ReadCall =
  | { readonly kind: 'delivery'; readonly delivery: NewDelivery }
  | { readonly kind: 'broken'; readonly code: string; readonly details: readonly FieldRule[] };

/** Parses and checks the body of a webhook call (service-api 6). */
export function readCall(
  kind: DeliveryKind,
  rawBody: string,
  proof: { verified: boolean; signatureId: string | null },
): ReadCall {
  try {
    const body: unknown = JSON.parse(rawBody);
    const checked = WEBHOOKS[kind].body.safeParse(body);
    if (!checked.success) return { kind: 'broken', code: 'contract_broken', details: failedRules(checked.error) };
    const plain = jsonObject.safeParse(body);
    if (!plain.success) return { kind: 'broken', code: 'contract_broken', details: failedRules(plain.error) };
    const canonical = canonicalJson(plain.data);
    return {
      kind: 'delivery',
      delivery: {
        id: deliveryId(kind, proof.signatureId ?? '', canonical),
        kind,
        towingReferenceId: checked.data.towing_reference_id,
        rawBody,
        ...proof,
      },
    };
  } catch (error) {
    const details = [{ field: 'body', rule: 'must be JSON' }];
    if (error instanceof SyntaxError) return { kind: 'broken', code: 'not_json', details };
    if (error instanceof RangeError) {
      return { kind: 'broken', code: 'contract_broken', details: [{ field: 'body', rule: 'is nested too deeply' }] };
    }
    throw error;
  }
}

/** Kind, signature id and canonical body name a delivery: the same call sent again has the same id. */
function deliveryId(kind: DeliveryKind, signatureId: string, canonical: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([kind, signatureId, canonical]))
    .digest('hex');
  return `dlv_${hash.slice(0, 40)}`;
}
