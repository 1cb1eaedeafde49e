import { ArchiveBroken } from '../archive/broken';
import { readArchive } from '../archive/read';
import { notedHead } from '../contracts/audit';
import { systemClock } from '../platform/clock';
import { ConfigurationError, loadConfig, type Config } from '../platform/config';
import { silentLog } from '../platform/log';
import { createResources } from '../platform/resources';
import { printLine, printProblem } from '../platform/terminal';
import { createAuditStore } from '../store/audit';
import { connectFailFast, whenReady } from '../store/connect';
import { holdsData } from '../store/embedded/start';
import { verifyAudit, type AuditFinding, type AuditSources } from '../workflow/verify-audit';
import { openEmbedded } from './foundation';

/**
 * `npm run audit -- verify [<seq>:<hash>]`: follows the chain of the audit through the archive and Redis, and compares a
 * head that was noted at an earlier check. Exit codes: 0 it holds, 1 it is broken, 2 it could not be checked.
 */
const EXIT = { holds: 0, broken: 1, notChecked: 2 } as const;

const USAGE = 'Usage: npm run audit -- verify [<seq>:<hash>], a head that an earlier check printed.';
const READY_TIMEOUT_MS = 5000;

async function main(): Promise<number> {
  const [verb, head, ...more] = process.argv.slice(2);
  const noted = head === undefined ? null : notedHead.safeParse(head);
  if (verb !== 'verify' || more.length > 0 || noted?.success === false) {
    printProblem(USAGE);
    return EXIT.notChecked;
  }
  try {
    return report(await verify(loadConfig(), noted?.data ?? null));
  } catch (error) {
    if (error instanceof ArchiveBroken) {
      printProblem(`The archive is broken: ${error.message}`);
      return EXIT.broken;
    }
    const problem = error instanceof Error ? error.message : 'nobody knows why';
    printProblem(
      `${error instanceof ConfigurationError ? 'The configuration is wrong' : 'The audit could not be checked'}: ${problem}`,
    );
    return EXIT.notChecked;
  }
}

async function verify(config: Config, noted: AuditSources['noted']): Promise<AuditFinding> {
  const tools = { log: silentLog, clock: systemClock, resources: createResources(silentLog) };
  const { resources } = tools;
  try {
    const url = config.redis.url ?? (await openKept(config, tools));
    const redis = resources.add('redis', connectFailFast(url, tools), (connection) => connection.disconnect());
    await whenReady(redis, READY_TIMEOUT_MS);
    const kept = await createAuditStore(redis).lines();
    return await verifyAudit({ archived: readArchive(config.dataDir, { type: 'audit' }), kept, noted });
  } finally {
    await resources.closeAll();
  }
}

/** The embedded Redis that holds something. A new one would hold nothing, and prove nothing. */
async function openKept(config: Config, tools: Parameters<typeof openEmbedded>[1]): Promise<string> {
  if (!config.isProduction && !(await holdsData(config.dataDir))) {
    throw new Error('there is nothing to check, as DATA_DIR holds no embedded Redis and REDIS_URL is not set');
  }
  return openEmbedded(config, tools);
}

function report({ extent, broken }: AuditFinding): number {
  if (extent) {
    const { firstSeq, lastSeq, headHash } = extent;
    printLine(`Entries checked: ${lastSeq - firstSeq + 1}, from ${firstSeq} to ${lastSeq}`);
    printLine(`Head: ${lastSeq}:${headHash}`);
  } else {
    printLine('Entries checked: 0');
  }
  if (broken) {
    printProblem(`The chain breaks at entry ${broken.seq}: ${broken.problem}.`);
    return EXIT.broken;
  }
  printLine('The chain holds.');
  return EXIT.holds;
}

void main().then((exitCode) => process.exit(exitCode));
