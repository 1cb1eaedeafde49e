import { isUtf8 } from 'node:buffer';
import type { Request } from 'express';
import { JSON_LEVELS_MAX } from '../contracts/common';
import type { KeptRefusal } from '../contracts/refused-calls';
import { fieldsOf } from '../domain/difference';
import { jsonFaults, jsonIn } from '../domain/json';
import type { FieldRule } from '../domain/refusal';
import { isoTimestamp } from '../domain/timestamp';
import type { RefusalReason } from '../domain/webhook-answers';
import { sha256Hex } from '../platform/hash';
import { sourceOf } from '../platform/http';
import { CONTRACT_NAMES, withoutForeignNames } from './contract-fields';

const PARTS_MAX = 12;
const HEADERS_MAX = 50;
/** The structure of a longer body is not examined. */
const EXAMINED_BYTES_MAX = 16_384;
/** Words of a program, at most with a short number. Ids, keys, plates and names with spaces do not match. */
const PLAIN_PART = /^[a-z][a-z_-]{0,39}\d{0,2}$/i;
const PLAIN_HEADER = /^[a-z][a-z0-9-]{0,39}$/;

/** Describes a refused call without a value that it carried. */
export function describeRefusal(
  request: Request,
  refused: {
    readonly reason: RefusalReason;
    readonly httpStatus: number;
    readonly details: readonly FieldRule[];
    readonly nowMs: number;
  },
): KeptRefusal {
  const body: unknown = request.body;
  return {
    received_at: isoTimestamp(refused.nowMs),
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
