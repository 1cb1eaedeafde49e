import { stat } from 'node:fs/promises';
import { archiveFolder } from '../archive/files';
import { type ArchiveFilter, readArchive, type TornBatch, verifyArchive } from '../archive/read';
import { ArchiveBroken, ArchiveKeyMissing } from '../archive/read-file';
import { type CommandOutput, type LocalCommands, printableJson } from '../cli';
import type { ArchivedRecord } from '../contracts/ops/archive';
import { type Config, ConfigurationError, loadConfig } from '../platform/config/config';
import { openDataKeys } from '../platform/data-keys';
import { printLines, printProblem } from '../platform/terminal';
import { CHECK_EXIT, withRedis } from './with-redis';
import { errorMessage } from '../platform/errors';
import { createAuditStore } from '../store/ops/audit';
import { RedisUnreachable } from '../store/redis/connect';
import { type AuditFinding, type AuditSources, verifyAudit } from '../workflow/ops/verify-audit';

/** `towhook archive read` and `towhook archive verify`. Both need DATA_DIR and the data keys, no Redis. */

export const readArchivedRecords: LocalCommands['readArchive'] = async (filter, form) => {
  const config = await configWithData();
  const broken: ArchiveBroken[] = [];
  const onBroken = (found: ArchiveBroken) => broken.push(found);
  const items: ArchivedRecord[] = [];
  try {
    const records = selectedRecords(config.dataDir, { ...filter, keys: openDataKeys(config), onBroken });
    if (form === 'document') for await (const record of records) items.push(record);
    else await printLines(jsonLines(records));
  } catch (error) {
    if (error instanceof ArchiveKeyMissing) return keyMissingOutput(error);
    throw error;
  }
  return {
    json: { items, broken: broken.map(({ message }) => message) },
    lines: [],
    problems: broken.map(brokenMessage),
    exitCode: broken.length === 0 ? CHECK_EXIT.intact : CHECK_EXIT.broken,
  };
};

/** Without an archive nothing was archived yet; without DATA_DIR its path is wrong. @throws ConfigurationError */
async function configWithData(): Promise<Config> {
  const config = loadConfig();
  const found = await stat(config.dataDir).catch(() => null);
  if (found?.isDirectory()) return config;
  throw new ConfigurationError([{ variable: 'DATA_DIR', rule: 'is not a folder that exists' }]);
}

function keyMissingOutput({ message, keyId }: ArchiveKeyMissing): CommandOutput {
  return {
    json: { missing_data_keys: [keyId] },
    lines: [],
    problems: [`${message}. ${WITH_KEY}`],
    exitCode: CHECK_EXIT.notChecked,
  };
}

/** The records of a filter; of an id only the last one of each type. */
function selectedRecords(dataDir: string, filter: ArchiveFilter): AsyncIterable<ArchivedRecord> {
  const records = readArchive(dataDir, { ...filter, onTorn: (torn) => printProblem(tornMessage(torn)) });
  return filter.id === undefined ? records : lastOfEachType(records);
}

async function* lastOfEachType(records: AsyncIterable<ArchivedRecord>): AsyncGenerator<ArchivedRecord> {
  const last = new Map<string, ArchivedRecord>();
  for await (const record of records) last.set(record.type, record);
  yield* last.values();
}

async function* jsonLines(records: AsyncIterable<ArchivedRecord>): AsyncGenerator<string> {
  for await (const record of records) yield printableJson(record);
}

export const verifyArchivedRecords: LocalCommands['verifyArchive'] = async (days): Promise<CommandOutput> => {
  const config = await configWithData();
  const { dataDir } = config;
  const keys = openDataKeys(config);
  const { files, batches, records, torn, unopened, broken } = await verifyArchive(dataDir, { ...days, keys });
  const { tow, delivery, violation, audit } = records;
  const kinds = `tows ${tow}, deliveries ${delivery}, violations ${violation}, audit entries ${audit}`;
  return {
    json: {
      folder: archiveFolder(dataDir),
      files,
      batches,
      records,
      torn,
      ...(Object.keys(unopened).length > 0 ? { unopened } : {}),
      broken: broken.map(({ message }) => message),
    },
    lines: [
      `Folder: ${archiveFolder(dataDir)}`,
      `Files: ${files}`,
      `Batches: ${batches}`,
      `Records: ${tow + delivery + violation + audit} (${kinds})`,
      `Torn batches: ${torn.length}`,
      ...torn.map(tornMessage),
      ...Object.entries(unopened).map(unopenedMessage),
    ],
    problems: broken.map(brokenMessage),
    exitCode: broken.length === 0 ? CHECK_EXIT.intact : CHECK_EXIT.broken,
  };
};

const WITH_KEY = 'Add the key to that file, and run the command again.';

function unopenedMessage([keyId, batches]: [string, number]): string {
  return `Not opened: ${batches} batches, which are as they were written, under the data key "${keyId}", which DATA_KEYS_FILE does not have. ${WITH_KEY}`;
}

function brokenMessage({ message }: ArchiveBroken): string {
  return `Not as it was written: ${message}`;
}

/** A torn batch is no loss: records are deleted from Redis only after their batch is complete. */
function tornMessage({ file, bytes }: TornBatch): string {
  return `${file}: the last ${bytes} bytes are a batch cut short by a crash, or being written right now; skipped`;
}

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
