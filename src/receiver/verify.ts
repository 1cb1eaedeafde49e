import { createHash, timingSafeEqual } from 'node:crypto';
import { JSON_LEVELS_MAX } from '../contracts/common';
import { jsonFaults } from '../domain/json';
import type { RefusalReason } from '../domain/webhook/webhook-answers';
import { webhookSignature } from '../platform/webhook-signature';

/** The headers of one call, lower case. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The raw bytes, the headers and the time of receipt of a call. */
export interface SignedCall {
  readonly rawBody: Buffer;
  readonly headers: Headers;
  readonly nowMs: number;
}

export interface VerifySettings {
  /** The valid `whsec_…` secrets; several during a rotation. */
  readonly secrets: readonly string[];
  /** The header, and its valid values; several during a rotation. */
  readonly sharedSecret: { readonly header: string; readonly values: readonly string[] } | null;
}

/**
 * - verified: the signature or the shared secret is correct.
 * - unverified: no secret is configured.
 * - rejected: a secret is configured, and the call has no correct signature or shared secret. `why` contains no secret.
 */
export type Verification =
  | {
      readonly kind: 'verified' | 'unverified';
      readonly signatureId: string | null;
      /** When the sender signed the call; null unless the signature was verified. */
      readonly signedAtMs: number | null;
    }
  | {
      readonly kind: 'rejected';
      readonly reason: RefusalReason;
      readonly why: string;
      /** How far the timestamp is behind our clock, if that is the reason and it can be read. */
      readonly behindSeconds?: number;
    };

const HEADER_FAMILIES = [
  { id: 'webhook-id', timestamp: 'webhook-timestamp', signature: 'webhook-signature' },
  { id: 'svix-id', timestamp: 'svix-timestamp', signature: 'svix-signature' },
] as const;

/**
 * Verifies the raw bytes of a call before they are parsed (Standard Webhooks, Svix, or a shared secret). `mayDiagnose` is
 * asked before a wrong signature is compared with other spellings of the body, which takes up to 2 ms.
 */
export function verify(
  { rawBody, headers, nowMs }: SignedCall,
  settings: VerifySettings,
  mayDiagnose: () => boolean = () => true,
): Verification {
  const { secrets, sharedSecret } = settings;
  const anyId = signatureId(headers);
  // Open question Q9: the signature of webhooks is not documented; without a secret they are accepted unverified.
  if (secrets.length === 0 && sharedSecret === null)
    return { kind: 'unverified', signatureId: anyId, signedAtMs: null };
  if (sharedSecret?.values.some((value) => sameSecret(one(headers[sharedSecret.header]), value))) {
    return { kind: 'verified', signatureId: anyId, signedAtMs: null };
  }
  if (secrets.length === 0) return wrongSharedSecret(headers, sharedSecret);
  const signed = signatureHeaders(headers);
  if (!signed) {
    return {
      kind: 'rejected',
      reason: 'signature_missing',
      why: 'the signature headers (id, timestamp, signature) are missing',
    };
  }
  const timestamp = Number.parseInt(signed.timestamp, 10);
  const isSignedAs = (body: Buffer | string) => matches(signed, { body, timestamp, secrets });
  if (!isSignedAs(rawBody)) {
    const isExamined = rawBody.length <= EXAMINED_BYTES_MAX && mayDiagnose();
    return isExamined && spellingsOf(rawBody).some(isSignedAs) ? BODY_CHANGED : SIGNATURE_WRONG;
  }
  const signedAtMs = millisecondsOf(timestamp);
  const behindSeconds = Math.floor(nowMs / 1000) - Math.floor(signedAtMs / 1000);
  if (!(Math.abs(behindSeconds) <= TOLERANCE_SECONDS)) {
    const why = 'the signature is more than 5 minutes off, or its timestamp cannot be read';
    return { kind: 'rejected', reason: 'timestamp_off', why, behindSeconds };
  }
  // The signed id. Another id header of the call is not covered by the signature.
  return { kind: 'verified', signatureId: signed.id, signedAtMs };
}

const SIGNATURE_WRONG: Verification = {
  kind: 'rejected',
  reason: 'signature_wrong',
  why: 'the signature does not match the body (wrong secret, or a body changed on its way)',
};
const BODY_CHANGED: Verification = {
  kind: 'rejected',
  reason: 'body_changed',
  why: 'the signature fits another spelling of the body: it was changed on its way',
};

function wrongSharedSecret(headers: Headers, sharedSecret: VerifySettings['sharedSecret']): Verification {
  const isMissing = sharedSecret !== null && one(headers[sharedSecret.header]) === null;
  return {
    kind: 'rejected',
    reason: isMissing ? 'shared_secret_missing' : 'shared_secret_wrong',
    why: 'the shared secret header is missing or wrong',
  };
}

/** The id that is the same in every repetition of a call; null without one. */
function signatureId(headers: Headers): string | null {
  for (const family of HEADER_FAMILIES) {
    const id = one(headers[family.id]);
    if (id !== null && id !== '') return id;
  }
  return null;
}

interface SignatureHeaders {
  readonly id: string;
  readonly timestamp: string;
  /** The values of all `v1` signatures, in base64. */
  readonly signatures: readonly string[];
}

function signatureHeaders(headers: Headers): SignatureHeaders | null {
  for (const family of HEADER_FAMILIES) {
    const id = one(headers[family.id]);
    const timestamp = one(headers[family.timestamp]);
    const signature = one(headers[family.signature]);
    if (id && timestamp && signature) {
      const versioned = signature.split(' ', SIGNATURES_MAX).map((part) => part.split(',', 2));
      return {
        id,
        timestamp,
        signatures: versioned.flatMap(([version, value = '']) => (version === 'v1' ? [value] : [])),
      };
    }
  }
  return null;
}

/** A rotation of secrets needs a handful; a header has room for thousands, and comparing them takes time. */
const SIGNATURES_MAX = 20;
const TOLERANCE_SECONDS = 5 * 60;

/** Standard Webhooks has seconds. A number that would be a year after 5000 is milliseconds. */
function millisecondsOf(timestamp: number): number {
  return timestamp > 100_000_000_000 ? timestamp : timestamp * 1000;
}

function matches(
  signed: SignatureHeaders,
  by: { body: Buffer | string; timestamp: number; secrets: readonly string[] },
): boolean {
  return by.secrets.some((secret) => {
    const expected = webhookSignature({ id: signed.id, timestamp: by.timestamp, body: by.body }, secret);
    return expected !== null && signed.signatures.some((given) => sameSignature(given, expected));
  });
}

/** Proxies that read JSON and write it again use one of these spellings. Larger bodies are not examined. */
const EXAMINED_BYTES_MAX = 4096;

/** Other spellings of a JSON body that a sender may have signed; none for other bodies. */
function spellingsOf(rawBody: Buffer): string[] {
  const text = rawBody.toString('utf8').replace(/^\uFEFF/, '');
  if (jsonFaults(text, JSON_LEVELS_MAX).isTooDeep) return [];
  try {
    const parsed: unknown = JSON.parse(text);
    const trimmed = text.trim();
    const indented = JSON.stringify(parsed, null, 2);
    // A JSON text has line breaks between its tokens only.
    const spaced = indented.replace(/,\n\s*/g, ', ').replace(/\n\s*/g, '');
    return [text, trimmed, `${trimmed}\n`, JSON.stringify(parsed), indented, spaced];
  } catch {
    return [];
  }
}

function sameSignature(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Node reads the bytes of a header as Latin-1, while some senders write a secret with other letters as UTF-8. */
function sameSecret(given: string | null, expected: string): boolean {
  return sameText(given, expected) || (given !== null && sameText(Buffer.from(given, 'latin1').toString(), expected));
}

/** Compares in constant time, without revealing the length of the expected text. */
function sameText(given: string | null, expected: string): boolean {
  if (given === null) return false;
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

function one(header: string | string[] | undefined): string | null {
  if (Array.isArray(header)) return header[0] ?? null;
  return header ?? null;
}
