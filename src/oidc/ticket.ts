import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { signInTicket, type SignInTicket } from '../contracts/identity';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** The key of all tickets, made of a secret that every console process has. */
export type TicketKey = Buffer;

export function ticketKey(clientSecret: string): TicketKey {
  return Buffer.from(hkdfSync('sha256', clientSecret, '', 'towhook sign-in ticket', 32));
}

/** The ticket as text for a cookie, which only a holder of the key can read or make. */
export function sealTicket(ticket: SignInTicket, key: TicketKey): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv);
  const sealed = [cipher.update(JSON.stringify(ticket), 'utf8'), cipher.final()];
  return Buffer.concat([iv, cipher.getAuthTag(), ...sealed]).toString('base64url');
}

/** Null for a text that was not sealed with this key. */
export function openTicket(text: string, key: TicketKey): SignInTicket | null {
  const bytes = Buffer.from(text, 'base64url');
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const json = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
    return signInTicket.parse(JSON.parse(json.toString('utf8')));
  } catch {
    return null;
  }
}
