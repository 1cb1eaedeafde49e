import { createHash } from 'node:crypto';
import type { ArchivedRecord } from '../../contracts/ops/archive';
import { createAuditChain, type ChainBreak, type ChainExtent } from '../../domain/ops/audit-chain';

export interface AuditSources {
  /** Archived records in the order they were written; other types than audit are skipped. */
  readonly archived: AsyncIterable<ArchivedRecord>;
  /** The lines in Redis, oldest first. Read them before the archive: a line that moves meanwhile is then in both. */
  readonly kept: readonly string[];
  readonly noted: { readonly seq: number; readonly hash: string } | null;
}

/** The result of a check; the extent covers the verified part. */
export interface AuditFinding {
  readonly extent: ChainExtent | null;
  readonly broken: ChainBreak | null;
}

/**
 * Verifies the chain from the first archived entry to the newest in Redis, and stops at the first break. Rejects when
 * the archive is unreadable.
 */
export async function verifyAudit(sources: AuditSources): Promise<AuditFinding> {
  const chain = createAuditChain((text) => createHash('sha1').update(text).digest('hex'));
  const found = (broken: ChainBreak | null): AuditFinding => ({ extent: chain.extent, broken });
  for await (const record of sources.archived) {
    const broken = record.type === 'audit' ? chain.takeArchived(record.data.line, record.id) : null;
    if (broken) return found(broken);
  }
  const broken = chain.endArchived();
  if (broken) return found(broken);
  for (const line of sources.kept) {
    const broken = chain.takeKept(line);
    if (broken) return found(broken);
  }
  return found(sources.noted && chain.compareNoted(sources.noted));
}
