/**
 * A hash chain that makes the audit tamper-evident: a changed, missing, added or moved entry breaks every later hash.
 * A chain alone does not show that its last entries were cut off, or that it was rebuilt as a whole. A head noted
 * elsewhere shows both.
 */
export interface AuditChain {
  /**
   * Adds a line of the archive, filed under `id`. A repeated line must be identical. A line that comes early waits
   * for the lines before it.
   */
  takeArchived(text: string, id: string): ChainBreak | null;
  /** Call after the last archived line. Lines that still wait have lost the lines before them. */
  endArchived(): ChainBreak | null;
  /** Adds the next line that is still in Redis. The first lines may be archived already. */
  takeKept(text: string): ChainBreak | null;
  /** Checks that a head noted at an earlier check still belongs to the chain. */
  compareNoted(noted: { readonly seq: number; readonly hash: string }): ChainBreak | null;
  /** The verified part of the chain; null before the first line. */
  readonly extent: ChainExtent | null;
}

export interface ChainExtent {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly headHash: string;
}

/** The first entry at which the chain breaks, with a message for a person. */
export interface ChainBreak {
  readonly seq: number;
  readonly problem: string;
}

/** Returns an empty chain. It keeps only the hashes of the lines it has seen. */
export function createAuditChain(sha1: Sha1): AuditChain {
  const hashes = new Map<number, string>();
  const waiting = new Map<number, string>();
  let first: { readonly seq: number; readonly text: string } | null = null;
  let lastSeq = 0;
  let lastKept: number | null = null;

  const follows = (line: AuditLine): ChainBreak | null => {
    if (!hasItsTexts(line, sha1)) return { seq: line.seq, problem: OTHER_TEXTS };
    const before = line.seq === 1 ? CHAIN_START : hashes.get(line.seq - 1);
    // After the oldest archive was deleted there is no line that its first entry could follow.
    if (before === undefined || hashAfter(before, line, sha1) === line.hash) return null;
    return { seq: line.seq, problem: line.seq === 1 ? NOT_ITS_HASH : doesNotFollow(line.seq - 1) };
  };
  const append = (line: AuditLine, text: string): ChainBreak | null => {
    const broken = follows(line);
    if (broken) return broken;
    first ??= { seq: line.seq, text };
    hashes.set(line.seq, line.hash);
    lastSeq = line.seq;
    return null;
  };
  const compare = (line: AuditLine, text: string): ChainBreak | null => {
    const isFirst = line.seq === first?.seq;
    const isSame = isFirst ? text === first?.text : hashes.get(line.seq) === line.hash && follows(line) === null;
    return isSame ? null : { seq: line.seq, problem: DIFFERS };
  };
  const appendWaiting = (): ChainBreak | null => {
    for (let text = waiting.get(lastSeq + 1); text !== undefined; text = waiting.get(lastSeq + 1)) {
      waiting.delete(lastSeq + 1);
      const line = auditLineOf(text);
      const broken = line && append(line, text);
      if (broken) return broken;
    }
    return null;
  };

  return {
    takeArchived(text, id) {
      const line = auditLineOf(text);
      if (!line || String(line.seq) !== id)
        return { seq: lastSeq + 1, problem: `the line filed as ${id} is not this entry` };
      if (hashes.has(line.seq)) return compare(line, text);
      if (line.seq === lastSeq + 1) return append(line, text) ?? appendWaiting();
      const other = waiting.get(line.seq);
      waiting.set(line.seq, text);
      return other === undefined || other === text ? null : { seq: line.seq, problem: DIFFERS };
    },
    endArchived() {
      if (!first && waiting.size > 0) {
        lastSeq = least(waiting.keys()) - 1;
        const broken = appendWaiting();
        if (broken) return broken;
      }
      return waiting.size > 0 ? missing(lastSeq + 1, least(waiting.keys())) : null;
    },
    takeKept(text) {
      const line = auditLineOf(text);
      if (!line) return { seq: (lastKept ?? lastSeq) + 1, problem: 'the line is not an audit entry' };
      if (lastKept !== null && line.seq <= lastKept)
        return { seq: line.seq, problem: `it comes after entry ${lastKept}` };
      if (lastKept !== null && line.seq > lastKept + 1) return missing(lastKept + 1, line.seq);
      lastKept = line.seq;
      if (hashes.has(line.seq)) return compare(line, text);
      if (line.seq === lastSeq + 1) return append(line, text);
      return line.seq > lastSeq ? missing(lastSeq + 1, line.seq) : { seq: line.seq, problem: TOO_OLD };
    },
    compareNoted({ seq, hash }) {
      if (hashes.get(seq) === hash) return null;
      if (seq > lastSeq) return { seq: lastSeq + 1, problem: `it is missing: the chain ends before the noted ${seq}` };
      return { seq, problem: hashes.has(seq) ? 'it is not the entry that was noted' : TOO_OLD };
    },
    get extent() {
      return first && { firstSeq: first.seq, lastSeq, headHash: hashes.get(lastSeq) ?? '' };
    },
  };
}

const DIFFERS = 'it occurs twice with different content';
const OTHER_TEXTS = 'its names or its reason were changed';
const NOT_ITS_HASH = 'its hash does not match its content';
const TOO_OLD = 'it is older than the first entry of the archive';

function least(seqs: Iterable<number>): number {
  return [...seqs].reduce((a, b) => Math.min(a, b));
}

function doesNotFollow(before: number): string {
  return `its hash does not follow from entry ${before}: one of the two was changed`;
}

function missing(seq: number, found: number): ChainBreak {
  return { seq, problem: `it is missing: entry ${found} was found instead` };
}

/**
 * A stored entry of the audit: `<seq> <at ms> <hash> <digest> <json>`, a line feed, and its texts. The digest is the SHA-1
 * of the texts, which begin with a salt. The hash is the SHA-1 of the hash of the entry before it, its seq, time, digest and
 * JSON, each followed by a line feed, as lua/commit.lua writes it. So the texts, which may name people, can be removed
 * later: the digest does not show them, and the chain stays whole.
 *
 * SHA-1, because a Redis script has no other and the link must be made by the script that writes the effect; the files
 * of the archive are hashed with SHA-256. To forge a link, another text for a given hash would have to be found, which
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
