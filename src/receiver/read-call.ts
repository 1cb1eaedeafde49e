import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { failedRules } from '../contracts/rules';
import { JSON_LEVELS_MAX } from '../contracts/common';
import { WEBHOOKS } from '../contracts/webhooks';
import { canonicalJson } from '../domain/canonical';
import { FAULTS_NAMED_MAX, jsonFaults } from '../domain/json-faults';
import type { FieldRule } from '../domain/refusal';
import type { DeliveryKind } from '../domain/vocabulary';
import type { NewDelivery } from '../workflow/ports';

/** A call that keeps the contract becomes a delivery; another becomes the list of rules it breaks. */
export type ReadCall =
  | { readonly kind: 'delivery'; readonly delivery: NewDelivery }
  | { readonly kind: 'broken'; readonly code: string; readonly details: readonly FieldRule[] };

/**
 * The gate of webhooks (service-api 6): UTF-8, at most 32 levels, JSON, finite numbers, the contract. At most 20
 * broken rules are named; the last entry counts the others.
 */
export function readCall(
  kind: DeliveryKind,
  rawBody: Buffer,
  proof: { verified: boolean; signatureId: string | null },
): ReadCall {
  // Decoding replaces every byte that is not UTF-8 alike: bodies that differ would become one delivery.
  if (!isUtf8(rawBody)) return broken('not_json', [{ field: 'body', rule: 'must be JSON in UTF-8' }]);
  const text = rawBody.toString('utf8');
  const { isTooDeep, infinite, infiniteCount } = jsonFaults(text, JSON_LEVELS_MAX);
  if (isTooDeep) return broken('contract_broken', [{ field: 'body', rule: 'is nested too deeply' }]);
  const body = parse(text);
  if (body === undefined) return broken('not_json', [{ field: 'body', rule: 'must be JSON' }]);
  if (infiniteCount > 0) {
    const details = infinite.map((path) => ({ field: path === '' ? 'body' : path, rule: 'must be a finite number' }));
    return broken('contract_broken', details, infiniteCount);
  }
  const checked = WEBHOOKS[kind].body.safeParse(body);
  if (!checked.success) return broken('contract_broken', failedRules(checked.error));
  return {
    kind: 'delivery',
    delivery: {
      id: deliveryId(kind, proof.signatureId ?? '', canonicalJson(body)),
      kind,
      towingReferenceId: checked.data.towing_reference_id,
      rawBody: text,
      ...proof,
    },
  };
}

function broken(code: string, details: readonly FieldRule[], count = details.length): ReadCall {
  const named = details.slice(0, FAULTS_NAMED_MAX);
  const others = count - named.length;
  return {
    kind: 'broken',
    code,
    details: others === 0 ? named : [...named, { field: 'body', rule: `and ${others} more` }],
  };
}

/** Undefined when the text is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Kind, signature id and canonical body name a delivery: the same call sent again has the same id. */
function deliveryId(kind: DeliveryKind, signatureId: string, canonical: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([kind, signatureId, canonical]))
    .digest('hex');
  return `dlv_${hash.slice(0, 40)}`;
}
