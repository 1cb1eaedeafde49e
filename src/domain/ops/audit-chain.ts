import { auditLineOf, CHAIN_START, hashAfter, hasItsTexts, type AuditLine, type Sha1 } from './audit-line';

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
