/**
 * A stored entry of the audit: a line `<seq> <at ms> <hash> <json>`. Its hash is the SHA-1 of the hash of the line before
 * it, its seq, time and JSON, each followed by a line feed, as lua/commit.lua writes it.
 *
 * SHA-1, because a Redis script has no other and the link must be made by the script that writes the effect; the files
 * of the archive are sealed with SHA-256. To forge a link, another text for a given hash would have to be found, which
 * SHA-1 still withstands; its known collisions need both texts to be chosen by the forger.
 */
export interface AuditLine {
  readonly seq: number;
  /** Redis time. */
  readonly atMs: number;
  readonly hash: string;
  readonly json: string;
}

/** The SHA-1 of a text's UTF-8 bytes, in hexadecimal. */
export type Sha1 = (text: string) => string;

/** The hash that the first entry follows. */
export const CHAIN_START = '0'.repeat(40);

/** Parses a line; null if it has another format. */
export function auditLineOf(text: string): AuditLine | null {
  const match = /^([1-9]\d{0,14}) ([1-9]\d{0,14}) ([0-9a-f]{40}) (.+)$/s.exec(text);
  if (!match) return null;
  const [, seq, at, hash = '', json = ''] = match;
  return { seq: Number(seq), atMs: Number(at), hash, json };
}

/** The hash that a line must have to follow the entry whose hash is `before`. */
export function hashAfter(before: string, { seq, atMs, json }: AuditLine, sha1: Sha1): string {
  return sha1(`${before}\n${seq}\n${atMs}\n${json}\n`);
}
