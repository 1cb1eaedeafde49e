import * as crypto from 'node:crypto';

/** Takes half the time of `createHash`. Missing before Node 20.12. */
const hashOnce: typeof crypto.hash | undefined = crypto.hash;

/** The SHA-256 of text (UTF-8) or bytes, in hex. */
export function sha256Hex(content: string | Uint8Array): string {
  return hashOnce?.('sha256', content, 'hex') ?? crypto.createHash('sha256').update(content).digest('hex');
}
