import { createHash } from 'node:crypto';

/** The SHA-256 of text (UTF-8) or bytes, in hex. */
export function sha256Hex(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
