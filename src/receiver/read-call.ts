import { createHash } from 'node:crypto';
import { failedRules } from '../contracts/rules';
import { JSON_LEVELS_MAX, jsonObject } from '../contracts/common';
import { WEBHOOKS } from '../contracts/webhooks';
import { canonicalJson, isNestedDeeperThan } from '../domain/canonical';
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
  const parsed = parse(rawBody);
  if (parsed.kind === 'broken') return parsed;
  const checked = WEBHOOKS[kind].body.safeParse(parsed.body);
  if (!checked.success) return { kind: 'broken', code: 'contract_broken', details: failedRules(checked.error) };
  const plain = jsonObject.safeParse(parsed.body);
  if (!plain.success) return { kind: 'broken', code: 'contract_broken', details: failedRules(plain.error) };
  return {
    kind: 'delivery',
    delivery: {
      id: deliveryId(kind, proof.signatureId ?? '', canonicalJson(parsed.body)),
      kind,
      towingReferenceId: checked.data.towing_reference_id,
      rawBody,
      ...proof,
    },
  };
}

/** JSON of a sane depth. */
function parse(rawBody: string): { kind: 'json'; body: unknown } | Extract<ReadCall, { kind: 'broken' }> {
  const broken = (code: string, rule: string) =>
    ({ kind: 'broken', code, details: [{ field: 'body', rule }] }) as const;
  try {
    const body: unknown = JSON.parse(rawBody);
    if (isNestedDeeperThan(JSON_LEVELS_MAX, body)) return broken('contract_broken', 'is nested too deeply');
    return { kind: 'json', body };
  } catch {
    return broken('not_json', 'must be JSON');
  }
}

/** Kind, signature id and canonical body name a delivery: the same call sent again has the same id. */
function deliveryId(kind: DeliveryKind, signatureId: string, canonical: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([kind, signatureId, canonical]))
    .digest('hex');
  return `dlv_${hash.slice(0, 40)}`;
}
