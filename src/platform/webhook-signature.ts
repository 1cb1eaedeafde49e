import { createHmac } from 'node:crypto';

/** What a signature of Standard Webhooks covers. */
export interface SignedContent {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly body: Buffer | string;
}

/**
 * The `v1` signature of Standard Webhooks: HMAC-SHA-256 of id, timestamp and body, in base64. Null when the secret is not
 * `whsec_` and base64, because an empty key verifies nothing.
 */
export function webhookSignature({ id, timestamp, body }: SignedContent, secret: string): string | null {
  const encoded = secret.replace(/^whsec_/, '');
  const key = Buffer.from(encoded, 'base64');
  if (key.length === 0 || key.toString('base64') !== encoded) return null;
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
}

/** The headers of a signed webhook; null when the secret is invalid. */
export function signedHeaders(content: SignedContent, secret: string): Readonly<Record<string, string>> | null {
  const signature = webhookSignature(content, secret);
  const { id, timestamp } = content;
  return signature === null
    ? null
    : { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${signature}` };
}
