import { createHash } from 'node:crypto';
import { auditOf, type AuditAction, type AuditEntry } from '../../src/domain/ops/audit';
import { CHAIN_START, hashAfter } from '../../src/domain/ops/audit-chain';

/** An audit entry for tests of something else. */
export function auditEntryOf(action: AuditAction, why: string | null = null): AuditEntry {
  return auditOf({ id: 'k1', name: 'tester', role: 'ops' }, action, { on: {}, why });
}

export function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}

/** A chain of entries with these texts, and their JSON if given, from seq 1, as the scripts write it. */
export function chainOf(texts: readonly string[], entries: readonly string[] = []): string[] {
  let before = CHAIN_START;
  return texts.map((text, index) => {
    const [seq, atMs] = [index + 1, 1_700_000_000_000 + index];
    const [digest, json] = [sha1(text), entries[index] ?? JSON.stringify({ action: 'tow.note_added' })];
    before = hashAfter(before, { seq, atMs, digest, json }, sha1);
    return `${seq} ${atMs} ${before} ${digest} ${json}\n${text}`;
  });
}
