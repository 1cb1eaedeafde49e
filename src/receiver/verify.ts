import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** The headers of one call, lower case. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What proves a call: its bytes as they came, its headers, and when it came. */
export interface SignedCall {
  readonly rawBody: Buffer;
  readonly headers: Headers;
  readonly nowMs: number;
}

export interface VerifySettings {
  /** `whsec_…` secrets valid now; several while they are rotated. */
  readonly secrets: readonly string[];
  readonly sharedSecret: { readonly header: string; readonly value: string } | null;
}

/**
 * - verified: a signature or the shared secret proves the sender.
 * - unverified: nothing is configured to prove it with.
 * - rejected: something is configured, and the call does not prove itself; `why` never quotes a secret.
 */
export type Verification =
  | { readonly kind: 'verified' | 'unverified'; readonly signatureId: string | null }
  | { readonly kind: 'rejected'; readonly why: string };

const HEADER_FAMILIES = [
  { id: 'webhook-id', timestamp: 'webhook-timestamp', signature: 'webhook-signature' },
  { id: 'svix-id', timestamp: 'svix-timestamp', signature: 'svix-signature' },
] as const;

/** Checks a call over its raw bytes, before anything reads them (Standard Webhooks, Svix, or a shared secret). */
export function verify({ rawBody, headers, nowMs }: SignedCall, settings: VerifySettings): Verification {
  const { secrets, sharedSecret } = settings;
  const anyId = signatureId(headers);
  // Open question Q9: how the service proves its webhooks is not documented; with nothing configured they are taken unproved.
  if (secrets.length === 0 && sharedSecret === null) return { kind: 'unverified', signatureId: anyId };
  if (sharedSecret !== null && sameText(one(headers[sharedSecret.header]), sharedSecret.value)) {
    return { kind: 'verified', signatureId: anyId };
  }
  if (secrets.length === 0) return { kind: 'rejected', why: 'the shared secret header is missing or wrong' };
  const signed = signatureHeaders(headers);
  if (!signed) return { kind: 'rejected', why: 'the signature headers (id, timestamp, signature) are missing' };
  const timestamp = Number.parseInt(signed.timestamp, 10);
  const secondsOff = Math.abs(Math.floor(nowMs / 1000) - timestamp);
  if (Number.isNaN(secondsOff) || secondsOff > TOLERANCE_SECONDS) {
    return { kind: 'rejected', why: 'the signature is more than 5 minutes off, or its timestamp cannot be read' };
  }
  const isSigned = secrets.some((secret) => {
    const expected = signatureOf(rawBody, { id: signed.id, timestamp, secret });
    return expected !== null && signed.signatures.some((given) => sameSignature(given, expected));
  });
  // The id that was signed, not another one that rides along.
  if (isSigned) return { kind: 'verified', signatureId: signed.id };
  return {
    kind: 'rejected',
    why: 'the signature does not match the body (wrong secret, or a body changed on its way)',
  };
}

/** The id that stays the same on every resend of one delivery; null when the sender gives none. */
function signatureId(headers: Headers): string | null {
  for (const family of HEADER_FAMILIES) {
    const id = one(headers[family.id]);
    if (id !== null && id !== '') return id;
  }
  return null;
}

interface Signed {
  readonly id: string;
  readonly timestamp: string;
  /** The values of all `v1` signatures, in base64. */
  readonly signatures: readonly string[];
}

function signatureHeaders(headers: Headers): Signed | null {
  for (const family of HEADER_FAMILIES) {
    const id = one(headers[family.id]);
    const timestamp = one(headers[family.timestamp]);
    const signature = one(headers[family.signature]);
    if (id && timestamp && signature) {
      const versioned = signature.split(' ').map((part) => part.split(','));
      return {
        id,
        timestamp,
        signatures: versioned.flatMap(([version, value = '']) => (version === 'v1' ? [value] : [])),
      };
    }
  }
  return null;
}

const TOLERANCE_SECONDS = 5 * 60;

/** HMAC-SHA-256 of id, timestamp and body; null when the secret is no base64, since an empty key proves nothing. */
function signatureOf(rawBody: Buffer, by: { id: string; timestamp: number; secret: string }): string | null {
  const encoded = by.secret.replace(/^whsec_/, '');
  const key = Buffer.from(encoded, 'base64');
  if (key.length === 0 || key.toString('base64') !== encoded) return null;
  return createHmac('sha256', key).update(`${by.id}.${by.timestamp}.`).update(rawBody).digest('base64');
}

function sameSignature(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Tells nothing about the length of the expected text. */
function sameText(given: string | null, expected: string): boolean {
  if (given === null) return false;
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

function one(header: string | string[] | undefined): string | null {
  if (Array.isArray(header)) return header[0] ?? null;
  return header ?? null;
}
