import type { Redis } from 'ioredis';
import { auditEntry, auditTexts, type AuditView } from '../../contracts/ops/audit';
import { readCursor, writeCursor } from '../../contracts/paging';
import { auditLineOf } from '../../domain/ops/audit-chain';
import { textTerm } from '../../domain/search';
import { isoTimestamp } from '../../domain/timestamp';
import { done, transactOnce } from '../../workflow/action-result';
import type { AuditStore } from '../../workflow/ports';
import { KEYS } from '../keys';
import { text, texts, UnexpectedReply } from '../redis/parse';
import { readTogether } from '../redis/batch-reads';
import { recordsOf } from '../outbox/records';
import { Script } from '../scripts';

const readAudit = new Script('read-audit');

/** A page of the audit of one tow scans at most this many batches of lines. It may be short and yet not the last. */
const BATCH_LINES = 500;
const BATCHES_MAX = 10;
/** Lines per command when the whole audit is read. */
const LINES_PER_READ = 2000;
/** Reading the whole audit starts again when lines are archived meanwhile, at most this often. */
const READS_MAX = 5;

/** The part of the audit that is still in Redis. Only commits append to it (lua/commit.lua). */
export function createAuditStore(redis: Redis): AuditStore {
  /** The lines before a sequence number, or the newest ones; newest first. */
  const before = async (seq: number | null, count: number): Promise<AuditView[]> => {
    const lines = texts(await readAudit.run(redis, [KEYS.audit], [seq ?? '', count]), 'read-audit');
    return lines.map(viewOf).toReversed();
  };
  return {
    async list({ cursor, limit, towingReferenceId }) {
      const term = towingReferenceId === null ? null : textTerm(towingReferenceId);
      const isWanted = ({ on }: AuditView) => term === null || textTerm(on.towing_reference_id ?? '') === term;
      const after = cursor === null ? null : readCursor(cursor);
      const size = towingReferenceId === null ? limit : BATCH_LINES;
      const items: AuditView[] = [];
      let seq = after && Math.floor(after.score);
      for (let batches = 0; batches < BATCHES_MAX; batches += 1) {
        // One line more shows whether there is a next page.
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
      throw new Error('lines of the audit were archived each time that it was read');
    },

    append: ({ audit, idempotency }) =>
      transactOnce(recordsOf(redis), { orderKey: 'audit', idempotency }, async (transaction) => {
        transaction.audit(audit);
        return done(null);
      }),
  };
}

/** All lines, oldest first; null when lines were archived meanwhile, which shifts the indexes of the list. */
async function readAll(redis: Redis): Promise<string[] | null> {
  const all: string[] = [];
  for (;;) {
    const [oldest, lines] = await linesFrom(redis, all.length);
    if (all.length > 0 && oldest !== all[0]) return null;
    all.push(...lines);
    if (lines.length < LINES_PER_READ) return all;
  }
}

async function linesFrom(redis: Redis, index: number): Promise<[oldest: string | null, lines: string[]]> {
  const last = index + LINES_PER_READ - 1;
  const [oldest, lines] = await readTogether(redis, [
    ['LINDEX', KEYS.audit, 0],
    ['LRANGE', KEYS.audit, index, last],
  ]);
  return [oldest === null ? null : text(oldest, 'the audit'), texts(lines, 'the audit')];
}

function cursorAt(seq: number): string {
  return writeCursor({ score: seq, member: '' });
}

function viewOf(stored: string): AuditView {
  const line = auditLineOf(stored);
  if (!line) throw new UnexpectedReply('an audit entry');
  const entry = auditEntry.parse(JSON.parse(line.json));
  const texts = line.texts === null ? { by: entry.by_id, why: null } : auditTexts.parse(JSON.parse(line.texts));
  return { seq: line.seq, at: isoTimestamp(line.atMs), ...entry, ...texts };
}
