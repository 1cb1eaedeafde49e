import type { Redis } from 'ioredis';
import { auditEntry, type AuditView } from '../contracts/audit';
import { readCursor, writeCursor } from '../contracts/cursor';
import { auditLineOf } from '../domain/audit-line';
import type { AuditStore } from '../workflow/ports';
import { KEYS } from './keys';
import { text, texts, UnexpectedReply } from './parse';
import { readTogether } from './read-together';
import { recordsOf } from './records';
import { Script } from './scripts';

const readAudit = new Script('read-audit');

/** A page that looks for the acts on one tow passes by so many lines of others at most. */
const LINES_PER_LOOK = 500;
const LOOKS_MAX = 10;
/** How many lines are read at once when all are read. */
const LINES_PER_READ = 2000;
/** Old lines leave for the archive once in a while; so often in a row they cannot. */
const READS_MAX = 5;

/** The part of the audit that is in Redis; only commits append to it (lua/commit.lua). */
export function createAuditStore(redis: Redis): AuditStore {
  /** Newest first. */
  const before = async (seq: number | null, count: number): Promise<AuditView[]> => {
    const lines = texts(await readAudit.run(redis, [KEYS.audit], [seq ?? '', count]), 'read-audit');
    return lines.map(viewOf).toReversed();
  };
  return {
    async list({ cursor, limit, towingReferenceId }) {
      const isWanted = (entry: AuditView) =>
        towingReferenceId === null || entry.on.towing_reference_id === towingReferenceId;
      const after = cursor === null ? null : readCursor(cursor);
      const size = towingReferenceId === null ? limit : LINES_PER_LOOK;
      const items: AuditView[] = [];
      let seq = after && Math.floor(after.score);
      for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
        // One more than is shown tells whether there is a next page.
        const read = await before(seq, size + 1);
        for (const [index, entry] of read.slice(0, size).entries()) {
          seq = entry.seq;
          if (!isWanted(entry)) continue;
          items.push(entry);
          if (items.length === limit) return { items, nextCursor: index + 1 < read.length ? cursorAt(seq) : null };
        }
        if (read.length <= size) return { items, nextCursor: null };
      }
      return { items, nextCursor: seq === null ? null : cursorAt(seq) };
    },

    async lines() {
      for (let reads = 0; reads < READS_MAX; reads += 1) {
        const lines = await readAll(redis);
        if (lines) return lines;
      }
      throw new Error('the audit kept moving to the archive while it was read');
    },

    async append({ audit, remember }) {
      const reply = await recordsOf(redis).transact('audit', async (transaction) => {
        const known = remember && (await transaction.fingerprintOf(remember.scope));
        if (known) return { kind: 'remembered', fingerprint: known } as const;
        transaction.audit(audit);
        transaction.remember(remember);
        return { kind: 'saved' } as const;
      });
      return reply.kind === 'failed' ? { kind: 'remembered', fingerprint: reply.value } : reply.value;
    },
  };
}

/** Every line, oldest first; null when the oldest left meanwhile, since places in the list then mean other lines. */
async function readAll(redis: Redis): Promise<string[] | null> {
  const all: string[] = [];
  for (;;) {
    const [oldest, lines] = await stretchFrom(redis, all.length);
    if (all.length > 0 && oldest !== all[0]) return null;
    all.push(...lines);
    if (lines.length < LINES_PER_READ) return all;
  }
}

async function stretchFrom(redis: Redis, place: number): Promise<[oldest: string | null, lines: string[]]> {
  const last = place + LINES_PER_READ - 1;
  const [oldest, lines] = await readTogether(redis, [
    ['LINDEX', KEYS.audit, 0],
    ['LRANGE', KEYS.audit, place, last],
  ]);
  return [oldest === null ? null : text(oldest, 'the audit'), texts(lines, 'the audit')];
}

function cursorAt(seq: number): string {
  return writeCursor({ score: seq, member: '' });
}

function viewOf(stored: string): AuditView {
  const line = auditLineOf(stored);
  if (!line) throw new UnexpectedReply('an audit entry');
  return { seq: line.seq, at: new Date(line.atMs).toISOString(), ...auditEntry.parse(JSON.parse(line.json)) };
}
