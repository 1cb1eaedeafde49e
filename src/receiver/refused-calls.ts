import { isUtf8 } from 'node:buffer';
import type { Request } from 'express';
import { JSON_LEVELS_MAX } from '../contracts/common';
import { invoiceCharge, type KeptRefusal, WEBHOOKS } from '../contracts/webhook/webhooks';
import { fieldsOf } from '../domain/service/difference';
import { jsonFaults, jsonIn } from '../domain/json';
import type { FieldRule } from '../domain/refusal';
import { isoTimestamp } from '../domain/timestamp';
import type { RefusalReason } from '../domain/webhook/webhook-answers';
import type { Clock } from '../platform/clock';
import { sha256Hex } from '../platform/hash';
import { sourceOf } from '../platform/connections';
import type { RefusedCallStore } from '../workflow/webhook/webhook-port';

/** Refused calls of this process that are not stored yet. */
export interface RefusedCalls {
  /** Describes and keeps a call, unless enough of its kind wait to be stored. */
  keep(request: Request, refused: RefusedCallCause): void;
  /** Stores what was kept. What cannot be stored is dropped: the sender repeats it. */
  flush(): Promise<void>;
}

interface RefusedCallCause {
  readonly reason: RefusalReason;
  readonly httpStatus: number;
  readonly details: readonly FieldRule[];
}

/** Between two flushes. A flood then costs little, and calls refused for other reasons are kept nevertheless. */
const PER_SOURCE_MAX = 2;
const PER_REASON_MAX = 10;

export function createRefusedCalls(store: Pick<RefusedCallStore, 'keep'>, clock: Clock): RefusedCalls {
  let waiting: KeptRefusal[] = [];
  const counts = new Map<string, number>();
  /** Counts one more under each name, or none if one of them is full. */
  const tryCount = (...limits: readonly (readonly [name: string, most: number])[]) => {
    if (limits.some(([name, most]) => (counts.get(name) ?? 0) >= most)) return false;
    for (const [name] of limits) counts.set(name, (counts.get(name) ?? 0) + 1);
    return true;
  };
  return {
    keep(request, refused) {
      const { reason } = refused;
      if (!tryCount([reason, PER_REASON_MAX], [`${reason} ${sourceOf(request.ip)}`, PER_SOURCE_MAX])) return;
      waiting.push(describeRefusal(request, refused, clock.nowMs()));
    },
    async flush() {
      if (waiting.length === 0) return;
      const taken = waiting;
      waiting = [];
      counts.clear();
      await store.keep(taken);
    },
  };
}

const PARTS_MAX = 12;
const HEADERS_MAX = 50;
/** The structure of a longer body is not examined. */
const EXAMINED_BYTES_MAX = 16_384;
/** Words of a program, at most with a short number. Ids, keys, plates and names with spaces do not match. */
const PLAIN_PART = /^[a-z][a-z_-]{0,39}\d{0,2}$/i;
const PLAIN_HEADER = /^[a-z][a-z0-9-]{0,39}$/;

/** Describes a refused call without a value that it carried. */
function describeRefusal(request: Request, refused: RefusedCallCause, nowMs: number): KeptRefusal {
  const body: unknown = request.body;
  return {
    received_at: isoTimestamp(nowMs),
    path: plainPath(request.path),
    source: sourceOf(request.ip),
    reason: refused.reason,
    http_status: refused.httpStatus,
    details: withoutForeignNames(refused.details),
    header_names: [...new Set(Object.keys(request.headers).map(plainHeader))].toSorted().slice(0, HEADERS_MAX),
    ...(Buffer.isBuffer(body) ? describeBody(body) : notRead(request)),
  };
}

type BodyDescription = Pick<KeptRefusal, 'size' | 'body_hash' | 'body_kind' | 'fields'>;

function notRead(request: Request): BodyDescription {
  const declared = Number(request.headers['content-length']);
  return { size: Number.isSafeInteger(declared) ? declared : null, body_hash: null, body_kind: 'not_read', fields: [] };
}

function describeBody(body: Buffer): BodyDescription {
  const known = { size: body.length, body_hash: sha256Hex(body) };
  const text = body.toString('utf8').trim();
  const json = body.length > EXAMINED_BYTES_MAX ? undefined : parsed(text);
  if (json !== undefined) return { ...known, body_kind: 'json', fields: [...fieldsOf(json, CONTRACT_NAMES)] };
  return { ...known, body_kind: kindOfText(body, text), fields: [] };
}

function kindOfText(body: Buffer, text: string): KeptRefusal['body_kind'] {
  if (text === '') return 'empty';
  if (!isUtf8(body)) return 'binary';
  if (text.startsWith('<')) return 'markup';
  if (text.startsWith('{') || text.startsWith('[')) return 'json';
  return /^[\w.%+[\]-]+=/.test(text) ? 'form' : 'text';
}

/** Undefined when the text is not JSON, or nested too deeply to be examined. */
function parsed(text: string): unknown {
  return jsonFaults(text, JSON_LEVELS_MAX).isTooDeep ? undefined : jsonIn(text);
}

function plainHeader(name: string): string {
  return PLAIN_HEADER.test(name) ? name : '*';
}

function plainPath(path: string): string {
  const parts = path.split('/').slice(1, PARTS_MAX + 1);
  return `/${parts.map((part) => (part === '' || PLAIN_PART.test(part) ? part : '*')).join('/')}`;
}

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
const CONTRACT_NAMES: ReadonlySet<string> = new Set([...CONTRACT_FIELDS].flatMap((field) => field.split('.')));

/** The failing fields and rules, without text of the sender. */
export function withoutForeignNames(details: readonly FieldRule[]): FieldRule[] {
  return details.map(({ field, rule }) => ({
    field: CONTRACT_FIELDS.has(field) ? field : '(not of the contract)',
    rule,
  }));
}
