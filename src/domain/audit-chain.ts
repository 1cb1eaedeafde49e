import { auditLineOf, CHAIN_START, hashAfter, type AuditLine, type Sha1 } from './audit-line';

/**
 * The chain that makes the audit tamper-evident: nothing in it can be changed, left out, added or moved without making
 * every later hash anew. What a chain alone cannot show is that entries were cut off its very end, or that it was made
 * anew as a whole; a head noted elsewhere shows both.
 */
export interface AuditChain {
  /**
   * Takes a line of the archive, filed under `id`. A line may come again as long as it is the same, and before its turn:
   * then it waits for the ones before it.
   */
  takeArchived(text: string, id: string): ChainBreak | null;
  /** To be called after the last archived line: those that still wait have lost the ones before them. */
  endArchived(): ChainBreak | null;
  /** Takes the next line that is still in Redis; the first of them may be archived already. */
  takeKept(text: string): ChainBreak | null;
  /** Whether a head noted at an earlier check still belongs to the chain. */
  compareNoted(noted: { readonly seq: number; readonly hash: string }): ChainBreak | null;
  /** As far as the chain holds; null before the first line. */
  readonly extent: ChainExtent | null;
}

export interface ChainExtent {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly headHash: string;
}

/** The first place where the chain does not hold, in words for a person. */
export interface ChainBreak {
  readonly seq: number;
  readonly problem: string;
}

/** An empty chain. Of the lines it took it keeps the hashes alone. */
export function createAuditChain(sha1: Sha1): AuditChain {
  const hashes = new Map<number, string>();
  const waiting = new Map<number, string>();
  let first: { readonly seq: number; readonly text: string } | null = null;
  let lastSeq = 0;
  let lastKept: number | null = null;

  const follows = (line: AuditLine): ChainBreak | null => {
    const before = line.seq === 1 ? CHAIN_START : hashes.get(line.seq - 1);
    // Where the oldest archive was given up, nothing is left that its first entry could follow.
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
      if (!line || String(line.seq) !== id) return { seq: lastSeq + 1, problem: `what is filed as ${id} is not it` };
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
      if (!line) return { seq: (lastKept ?? lastSeq) + 1, problem: 'what stands in its place is no entry' };
      if (lastKept !== null && line.seq <= lastKept) return { seq: line.seq, problem: `it stands behind ${lastKept}` };
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

const DIFFERS = 'it is there twice, and the two differ';
const NOT_ITS_HASH = 'its hash does not belong to what it says';
const TOO_OLD = 'it is older than the first entry of the archive';

function least(seqs: Iterable<number>): number {
  return [...seqs].reduce((a, b) => Math.min(a, b));
}

function doesNotFollow(before: number): string {
  return `its hash does not follow from entry ${before}: one of the two was changed`;
}

function missing(seq: number, found: number): ChainBreak {
  return { seq, problem: `it is missing: entry ${found} stands in its place` };
}
