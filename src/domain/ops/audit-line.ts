/**
 * A stored entry of the audit: `<seq> <at ms> <hash> <digest> <json>`, a line feed, and its texts. The digest is the SHA-1
 * of the texts, which begin with a salt. The hash is the SHA-1 of the hash of the entry before it, its seq, time, digest and
 * JSON, each followed by a line feed, as lua/commit.lua writes it. So the texts, which may name people, can be removed
 * later: the digest does not show them, and the chain stays whole.
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
  readonly digest: string;
  readonly json: string;
  /** JSON with a salt, names and free text; null: removed. */
  readonly texts: string | null;
}

/** The SHA-1 of a text's UTF-8 bytes, in hexadecimal. */
export type Sha1 = (text: string) => string;

/** The hash that the first entry follows. */
export const CHAIN_START = '0'.repeat(40);

/** Parses a line; null if it has another format. */
export function auditLineOf(text: string): AuditLine | null {
  const match = /^([1-9]\d{0,14}) ([1-9]\d{0,14}) ([0-9a-f]{40}) ([0-9a-f]{40}) ([^\n]+)(?:\n(.+))?$/s.exec(text);
  if (!match) return null;
  const [, seq, at, hash = '', digest = '', json = '', texts = null] = match;
  return { seq: Number(seq), atMs: Number(at), hash, digest, json, texts };
}

/** The hash that a line must have to follow the entry whose hash is `before`. */
export function hashAfter(
  before: string,
  { seq, atMs, digest, json }: Pick<AuditLine, 'seq' | 'atMs' | 'digest' | 'json'>,
  sha1: Sha1,
): string {
  return sha1(`${before}\n${seq}\n${atMs}\n${digest}\n${json}\n`);
}

/** Whether the texts of a line, if they are still there, are those of its digest. */
export function hasItsTexts({ digest, texts }: AuditLine, sha1: Sha1): boolean {
  return texts === null || sha1(texts) === digest;
}
