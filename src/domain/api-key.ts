/** What a key must be to travel in a header and to be found there again: `Authorization: Bearer <key>`. */
const SENDABLE = /^[\x21-\x7e\xa1-\xff]+$/;

export const API_KEY_RULE = 'must be visible Latin characters alone: no spaces, line ends or control characters';

/** False for a key that no request can carry. */
export function isSendableKey(key: string): boolean {
  return SENDABLE.test(key);
}
