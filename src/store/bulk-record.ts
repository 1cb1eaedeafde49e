import { bulkOutcome, bulkRecord, bulkTarget, bulkWords, type BulkInterruption } from '../contracts/bulk';
import type { BulkItem, BulkRun } from '../workflow/bulk-port';

/** From the hashes of a bulk run to what people see. */

/** A run; null when there is none. `nowMs` is the Redis time of the reading. */
export function bulkRun(hash: ReadonlyMap<string, string>, nowMs: number): BulkRun | null {
  if (hash.size === 0) return null;
  const record = bulkRecord.parse(Object.fromEntries(hash));
  const { document, waiting, done, refused, gone, skipped } = record;
  const counts = { waiting, done, refused, gone, skipped };
  // As in lua/shared/bulk.lua: the process that had it can no longer say that it does not.
  const isLost = record.state === 'running' && record.lease_until <= nowMs;
  const state = isLost ? 'interrupted' : record.state;
  const written: BulkInterruption = record.interruption === '' ? 'process_lost' : record.interruption;
  return {
    ...document,
    state,
    interruption: state === 'interrupted' ? written : null,
    runBy: record.run_by,
    previewedAt: iso(record.previewed_at),
    startedAt: isoOrNull(record.started_at),
    endedAt: isoOrNull(record.ended_at),
    expiresAt: iso(record.expires_at),
    counts,
    total: waiting + done + refused + gone + skipped,
  };
}

/** The tasks of a run, in their order. */
export function bulkItems(hash: ReadonlyMap<string, string>, total: number): BulkItem[] {
  return Array.from({ length: total }, (_, position) => {
    const part = (name: string) => hash.get(`${position}:${name}`) ?? '';
    const words = part('words');
    return {
      ...bulkTarget.parse(JSON.parse(part('target'))),
      position,
      outcome: bulkOutcome.parse(part('outcome') || 'waiting'),
      words: words === '' ? null : bulkWords.parse(JSON.parse(words)),
      hasBegun: part('begun') !== '',
    };
  });
}

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}

function isoOrNull(atMs: number | null): string | null {
  return atMs === null ? null : iso(atMs);
}
