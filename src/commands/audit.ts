import { readArchive } from '../archive/read';
import { ArchiveBroken } from '../archive/read-file';
import type { CommandOutput, LocalCommands } from '../cli';
import { ConfigurationError, loadConfig, type Config } from '../platform/config/config';
import { errorMessage } from '../platform/errors';
import { createAuditStore } from '../store/ops/audit';
import { RedisUnreachable } from '../store/redis/connect';
import { verifyAudit, type AuditFinding, type AuditSources } from '../workflow/ops/verify-audit';
import { CHECK_EXIT, withRedis } from './with-redis';

/**
 * `towhook audit verify` checks the hash chain of the audit through the archive and Redis, and compares it with a head
 * that an earlier check printed. Exit codes: 0 unbroken, 1 broken, 2 not checked, 3 Redis cannot be reached.
 */
export const verifyStoredAudit: LocalCommands['verifyAudit'] = async (noted) => {
  try {
    return outputOf(await findingOf(loadConfig(), noted));
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    if (error instanceof ArchiveBroken)
      return problemOutput(`The archive is broken: ${error.message}`, CHECK_EXIT.broken);
    const exitCode = error instanceof RedisUnreachable ? CHECK_EXIT.unreachable : CHECK_EXIT.notChecked;
    return problemOutput(`The audit could not be checked: ${errorMessage(error)}`, exitCode);
  }
};

function findingOf(config: Config, noted: AuditSources['noted']): Promise<AuditFinding> {
  return withRedis(config, async (redis, keys) => {
    const kept = await createAuditStore(redis).lines();
    return verifyAudit({ archived: readArchive(config.dataDir, { type: 'audit', keys }), kept, noted });
  });
}

function outputOf({ extent, broken }: AuditFinding): CommandOutput {
  const checked = extent === null ? 0 : extent.lastSeq - extent.firstSeq + 1;
  const head = extent === null ? null : `${extent.lastSeq}:${extent.headHash}`;
  const lines =
    extent === null
      ? ['Entries checked: 0']
      : [`Entries checked: ${checked}, from ${extent.firstSeq} to ${extent.lastSeq}`, `Head: ${head}`];
  return {
    json: { entries_checked: checked, head, broken },
    lines: broken === null ? [...lines, 'The chain holds.'] : lines,
    problems: broken === null ? [] : [`The chain breaks at entry ${broken.seq}: ${broken.problem}.`],
    exitCode: broken === null ? CHECK_EXIT.intact : CHECK_EXIT.broken,
  };
}

function problemOutput(text: string, exitCode: number): CommandOutput {
  return { json: { problem: text }, lines: [], problems: [text], exitCode };
}
