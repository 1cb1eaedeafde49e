import { readArchive } from '../archive/read';
import { ArchiveBroken } from '../archive/read-file';
import type { CommandOutput, LocalCommands } from '../cli';
import { openExisting } from '../embedded-redis/start';
import { systemClock } from '../platform/clock';
import { ConfigurationError, loadConfig, type Config } from '../platform/config';
import { openDataKeys } from '../platform/data-keys';
import { errorMessage } from '../platform/errors';
import { silentLog } from '../platform/log';
import { createResources } from '../platform/resources';
import { openAccess } from '../store/access';
import { createAuditStore } from '../store/audit';
import { connectFailFast, whenReady } from '../store/connect';
import { verifyAudit, type AuditFinding, type AuditSources } from '../workflow/verify-audit';
import { EXIT } from './exit';

const READY_TIMEOUT_MS = 5000;

/**
 * `towhook audit verify` checks the hash chain of the audit through the archive and Redis, and compares it with a head
 * that an earlier check printed. Exit codes: 0 unbroken, 1 broken, 2 not checked.
 */
export const verifyStoredAudit: LocalCommands['verifyAudit'] = async (noted) => {
  try {
    return outputOf(await findingOf(loadConfig(), noted));
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    if (error instanceof ArchiveBroken) return problemOutput(`The archive is broken: ${error.message}`, EXIT.broken);
    return problemOutput(`The audit could not be checked: ${errorMessage(error)}`, EXIT.notChecked);
  }
};

async function findingOf(config: Config, noted: AuditSources['noted']): Promise<AuditFinding> {
  const tools = { log: silentLog, clock: systemClock, resources: createResources(silentLog) };
  const { resources } = tools;
  try {
    const url = config.redis.url ?? (await openExisting(config, tools));
    const keys = openDataKeys(config);
    const redis = resources.add('redis', connectFailFast(openAccess(config.redis, url, keys), tools), (connection) =>
      connection.disconnect(),
    );
    await whenReady(redis, READY_TIMEOUT_MS);
    const kept = await createAuditStore(redis).lines();
    return await verifyAudit({ archived: readArchive(config.dataDir, { type: 'audit', keys }), kept, noted });
  } finally {
    await resources.closeAll();
  }
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
    exitCode: broken === null ? EXIT.intact : EXIT.broken,
  };
}

function problemOutput(text: string, exitCode: number): CommandOutput {
  return { json: { problem: text }, lines: [], problems: [text], exitCode };
}
