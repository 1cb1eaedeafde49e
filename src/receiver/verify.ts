import { createHash, timingSafeEqual } from 'node:crypto';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

/** The headers of one call, lower case. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

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

const HEADER_FAMILIES = ['webhook', 'svix'] as const;

/** Checks a call over its raw bytes, before anything reads them (Standard Webhooks, Svix, or a shared secret). */
export function verify(rawBody: Buffer, headers: Headers, settings: VerifySettings): Verification {
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
  const text = rawBody.toString('utf8');
  const reasons = secrets.map((secret) => whyNotSigned(secret, text, signed));
  // The id that was signed, not another one that rides along.
  if (reasons.includes(null)) return { kind: 'verified', signatureId: signed['webhook-id'] };
  return { kind: 'rejected', why: reasons[0] ?? 'the signature does not match' };
}

/** The id that stays the same on every resend of one delivery; null when the sender gives none. */
function signatureId(headers: Headers): string | null {
  for (const family of HEADER_FAMILIES) {
    const id = one(headers[`${family}-id`]);
    if (id !== null && id !== '') return id;
  }
  return null;
}

type Signed = Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>>;

function signatureHeaders(headers: Headers): Signed | null {
  for (const family of HEADER_FAMILIES) {
    const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) =>
      one(headers[`${family}-${name}`]),
    );
    if (id && timestamp && signature) {
      return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
    }
  }
  return null;
}

function whyNotSigned(secret: string, text: string, signed: Signed): string | null {
  try {
    // Whether the body is JSON is the next check's business.
    new Webhook(secret).verify(text, signed, { jsonParse: false });
    return null;
  } catch (error) {
    return error instanceof WebhookVerificationError && /timestamp/i.test(error.message)
      ? 'the signature is more than 5 minutes off, or its timestamp cannot be read'
      : 'the signature does not match the body (wrong secret, or a body changed on its way)';
  }
}

function sameText(given: string | null, expected: string): boolean {
  if (given === null) return false;
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

function one(header: string | string[] | undefined): string | null {
  if (Array.isArray(header)) return header[0] ?? null;
  return header ?? null;
}
