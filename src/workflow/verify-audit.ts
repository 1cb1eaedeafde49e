import { createHash } from 'node:crypto';
import type { ArchivedRecord } from '../contracts/archive';
import { createAuditChain, type ChainBreak, type ChainExtent } from '../domain/audit-chain';

export interface AuditSources {
  /** Records of the archive in the order they were written; others than those of the audit are passed by. */
  readonly archived: AsyncIterable<ArchivedRecord>;
  /** The lines in Redis, oldest first. To be read before the archive is: what moves there in between is then in both. */
  readonly kept: readonly string[];
  /** A head noted at an earlier check. */
  readonly noted: { readonly seq: number; readonly hash: string } | null;
}

/** What a check found; the extent reaches as far as the chain holds. */
export interface AuditFinding {
  readonly extent: ChainExtent | null;
  readonly broken: ChainBreak | null;
}

/**
 * Follows the chain from the first archived entry to the newest one in Redis, and stops at the first break. Rejects with
 * whatever reading the archive rejects with.
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
