import { isUtf8 } from 'node:buffer';
import { JSON_LEVELS_MAX } from '../contracts/common';
import { withTextNames } from '../contracts/webhook/read-webhook';
import { storedObject } from '../domain/stored';
import { WEBHOOKS } from '../contracts/webhook/webhooks';
import { canonicalJson, isObject, jsonFaults, withQuotedNumbers, jsonIn, withoutByteOrderMark } from '../domain/json';
import type { FieldRule } from '../domain/refusal';
import {
  brokenReferenceRule,
  DELIVERY_KINDS,
  isTowingReference,
  type DeliveryKind,
  type TowingReference,
} from '../domain/vocabulary';
import { sha256Hex } from '../platform/hash';
import type { NewDelivery } from '../workflow/ports';

/**
 * The kind of webhook that a path takes: its documented path under any prefix, in any case, with or without slashes at the
 * end. Null for another path.
 *
 * Open question Q25: how the operator's address is registered is not documented; it may have any prefix.
 */
export function kindOfPath(path: string): DeliveryKind | null {
  let end = path.length;
  while (end > 1 && path[end - 1] === '/') end -= 1;
  const trimmed = path.slice(0, end).toLowerCase();
  return DELIVERY_KINDS.find((kind) => trimmed.endsWith(WEBHOOKS[kind].path)) ?? null;
}

/** The rule that a refused call breaks. */
export interface BrokenCall {
  readonly kind: 'broken';
  readonly code: 'not_json' | 'contract_broken';
  readonly details: readonly FieldRule[];
}

/** JSON that was received. */
interface ReceivedJson {
  readonly kind: 'json';
  readonly value: unknown;
  /** The text as sent. */
  readonly rawBody: string;
  /** True if it has a number that JSON.parse turns into Infinity. */
  readonly isInfinite: boolean;
  /** True if it has a number that JSON.parse may round. */
  readonly hasLongNumber: boolean;
}

/** Reads JSON of at most 32 levels in UTF-8, with or without a byte order mark. */
function readJson(bytes: Buffer): ReceivedJson | BrokenCall {
  // Decoding replaces all invalid bytes by the same character, so different bodies would become one delivery.
  if (!isUtf8(bytes)) return broken('not_json', 'must be JSON in UTF-8');
  const rawBody = bytes.toString('utf8');
  const { isTooDeep, infiniteCount, hasLongNumber } = jsonFaults(rawBody, JSON_LEVELS_MAX);
  if (isTooDeep) return broken('contract_broken', 'is nested too deeply');
  const value = jsonIn(withoutByteOrderMark(rawBody));
  if (value === undefined) return broken('not_json', 'must be JSON');
  return { kind: 'json', value, rawBody, isInfinite: infiniteCount > 0, hasLongNumber };
}

/** Reads JSON as `readJson`, and refuses what is not an object. */
export function readObject(bytes: Buffer): ReceivedJson | BrokenCall {
  const received = readJson(bytes);
  if (received.kind === 'broken') return received;
  return storedObject.safeParse(received.value).success ? received : notAnObject;
}

/**
 * Reads a webhook (docs/service-api.md#webhooks) as a delivery to store: JSON that names a tow. Whether it keeps the
 * contract is judged when it is processed. `foreign` is another event: an object without any field of the contract.
 */
export function readCall(
  kind: DeliveryKind,
  bytes: Buffer,
  verification: Pick<NewDelivery, 'verified' | 'signatureId' | 'signedAtMs'>,
): { readonly kind: 'delivery'; readonly delivery: NewDelivery } | { readonly kind: 'foreign' } | BrokenCall {
  const received = readJson(bytes);
  if (received.kind === 'broken') return received;
  const { rawBody, isInfinite } = received;
  const named = towIn(received);
  if (named.kind === 'broken') return isForeign(received.value) ? { kind: 'foreign' } : named;
  const { towingReferenceId, spelled } = named;
  // Canonical JSON writes each infinite number as null.
  const id = deliveryId(kind, verification.signatureId ?? '', isInfinite ? rawBody : canonicalJson(spelled));
  return { kind: 'delivery', delivery: { id, kind, towingReferenceId, rawBody, ...verification } };
}

/** A reference or charge at any depth, or nothing but metadata, makes a message a webhook that breaks the contract. */
function isForeign(value: unknown): boolean {
  if (!storedObject.safeParse(value).success || !isObject(value)) return false;
  const names = Object.keys(value).map(plainName);
  return !hasContractName(value) && (names.length !== 1 || names[0] !== METADATA);
}

const METADATA = 'metadata';
const plainName = (name: string) => name.toLowerCase().replaceAll(/[^a-z]/g, '');
/** The names of the contract in plain letters: snake, camel and kebab case are one. Other events may have metadata too. */
const CONTRACT_NAMES: ReadonlySet<string> = new Set(
  Object.values(WEBHOOKS)
    .flatMap(({ body }) => Object.keys(body.shape).map(plainName))
    .filter((name) => name !== METADATA),
);

function hasContractName(value: unknown): boolean {
  if (!isObject(value)) return false;
  if (Array.isArray(value)) return value.some(hasContractName);
  return Object.entries(value).some(([name, inner]) => CONTRACT_NAMES.has(plainName(name)) || hasContractName(inner));
}

/** True if a message names a tow, by the same rules as a webhook. */
export function namesTow(received: ReceivedJson): boolean {
  return towIn(received).kind === 'named';
}

/** The tow that a message names; otherwise the rule that it breaks in the documented place. */
function towIn(received: ReceivedJson): NamedTow | BrokenCall {
  const documented = documentedTow(received);
  return documented.kind === 'named' ? documented : (namedTow(received.value, received.rawBody) ?? documented);
}

/** The tow that a message names where the document says, or the rule that it breaks there. */
function documentedTow({ value, rawBody, hasLongNumber }: ReceivedJson): NamedTow | BrokenCall {
  const object = storedObject.safeParse(value).data;
  if (!object) return notAnObject;
  const spelled = withTextNames(object, rawBody);
  const ref = spelled['towing_reference_id'];
  const rule = brokenReferenceRule(ref);
  if (rule !== null || typeof ref !== 'string' || !isTowingReference(ref)) {
    return broken('contract_broken', rule ?? '', 'towing_reference_id');
  }
  // Other bodies keep the id that earlier versions gave them.
  return { kind: 'named', towingReferenceId: ref, spelled: hasLongNumber ? [spelled, quoted(rawBody)] : spelled };
}

type MessagePart = Readonly<Record<string, unknown>>;

const NAMES = ['towing_reference_id', 'towingReferenceId'] as const;

/** A tow that was found, and the whole message with the digits of its numbers as sent, to compare messages by. */
interface NamedTow {
  readonly kind: 'named';
  readonly towingReferenceId: TowingReference;
  readonly spelled: unknown;
}

/**
 * The first tow that a message names in snake or camel case, in itself, its `data`, or an item of a list; null when it
 * names none. Whole numbers count as the text of their digits.
 * @param message the output of JSON.parse of `text`.
 *
 * Open question Q34: other forms of a webhook than the documented one are not described.
 */
export function namedTow(message: unknown, text: string): NamedTow | null {
  const spelled = quoted(text);
  const digits = placesIn(spelled);
  for (const [at, place] of placesIn(message).entries()) {
    for (const name of NAMES) {
      const found = textOf(place[name], digits[at]?.[name]);
      if (found !== null && brokenReferenceRule(found) === null && isTowingReference(found)) {
        return { kind: 'named', towingReferenceId: found, spelled };
      }
    }
  }
  return null;
}

/** Deeper and further places are not looked at: a hostile message may have as many of them as bytes. */
const DEPTH_MAX = 4;
const PLACES_MAX = 1000;

/** The objects that may name a tow, in the order of the text. */
function placesIn(value: unknown, places: MessagePart[] = [], depth = 0): readonly MessagePart[] {
  if (depth > DEPTH_MAX || !isObject(value)) return places;
  if (Array.isArray(value)) {
    for (const item of value.slice(0, PLACES_MAX)) placesIn(item, places, depth + 1);
  } else if (places.length < PLACES_MAX) {
    places.push(value);
    placesIn(value['data'], places, depth + 1);
  }
  return places;
}

function textOf(value: unknown, digits: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && typeof digits === 'string' && /^\d+$/.test(digits) ? digits : null;
}

const notAnObject = broken('contract_broken', 'must be an object');

function broken(code: BrokenCall['code'], rule: string, field = 'body'): BrokenCall {
  return { kind: 'broken', code, details: [{ field, rule }] };
}

/** The value in a JSON text, with each number as text of its digits. */
function quoted(rawBody: string): unknown {
  return JSON.parse(withQuotedNumbers(withoutByteOrderMark(rawBody)));
}

/**
 * The hash of kind, signature id and canonical body, so that a repeated call has the same id.
 *
 * Open question Q24: whether a webhook is sent again is not documented; a repeated one changes nothing.
 */
function deliveryId(kind: DeliveryKind, signatureId: string, canonical: string): string {
  const hash = sha256Hex(JSON.stringify([kind, signatureId, canonical]));
  return `dlv_${hash.slice(0, 40)}`;
}
