import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { openFoundation } from '../src/main/foundation';
import { startParts } from '../src/main/roles';
import { loadConfig } from '../src/platform/config/config';
import { silentLog } from '../src/platform/log/log';
import { printLine, printProblem } from '../src/platform/terminal';
import { pause } from '../src/platform/timers';
import { KEYS, towKey } from '../src/store/keys';
import { compile } from '../test/support/compiled';
import { PROJECT } from '../test/support/project';
import { FACTS, towNames, towRequest } from './programs/tow';
import { startProgram } from './stage/programs';
import { startBenchRedis } from './stage/redis';
import { serviceSummary } from './workloads/owed-tows';

/**
 * Prints the files of `src` and `jobs` that a webhook passes until its tow is stored, a fact until its call is settled, and
 * its report alone: those of which V8 counts a call each time. So what a process repeats by itself, and what it does at
 * the first time only, is left out.
 */

const TIMES = 12;
const API_KEY = 'walks-bootstrap-api-key-of-towhook';
const [[FACT, FACT_BODY]] = FACTS;

async function main(): Promise<void> {
  await compile();
  const [redis, service] = [await startBenchRedis(), startProgram('service-stub')];
  const { url } = await service.ask({ do: 'listen', latencyMs: 0 }, z.object({ url: z.string() }));
  const config = loadConfig({
    REDIS_URL: redis.url,
    DATA_DIR: redis.folder,
    SERVICE_BASE_URL: url,
    SERVICE_CLIENT_ID: 'walks-client',
    SERVICE_CLIENT_SECRET: 'walks-client-secret',
    BOOTSTRAP_API_KEY: API_KEY,
    WEBHOOK_UNVERIFIED: 'accept',
    RECEIVER_PORT: '0',
    CONSOLE_PORT: '0',
    OPS_PORT: '0',
  });
  const foundation = await openFoundation({ config, log: silentLog });
  try {
    const { receiver, console } = await startParts(foundation, 'all');
    const calls = async () => (await service.ask({ do: 'read' }, serviceSummary)).calls;
    const isIdle = async (ref: string) => (await foundation.redis.zscore(KEYS.dueTows, ref)) === null;
    const reports = foundation.queues.byName.reports;
    const filesOf = await countFiles();
    const walks: Record<'webhook' | 'fact' | 'report', string[][]> = { webhook: [], fact: [], report: [] };
    for (let number = 0; number < 2 * TIMES; number += 1) {
      const names = towNames('w', number);
      const ref = names.towingReferenceId;
      const request = () => post(`${receiver?.url}/tow-request`, towRequest(names));
      const record = () => post(`${console?.url}/api/tows/${ref}/${FACT}`, FACT_BODY);
      const isSettled = async () => (await calls()) > number && (await isIdle(ref));
      const isStored = async () => (await foundation.redis.exists(towKey(ref))) === 1;
      walks.webhook.push(await filesOf(request, isStored));
      if (number % 2 === 0) {
        walks.fact.push(await filesOf(record, isSettled));
      } else {
        await reports.pause();
        await record();
        walks.report.push(await filesOf(() => reports.resume(), isSettled));
      }
    }
    for (const [name, walk] of Object.entries(walks)) {
      const [first = [], ...others] = walk.slice(1);
      const files = first.filter((file) => others.every((other) => other.includes(file)));
      printLine(`${name}: ${files.length} files\n${files.map((file) => `  ${file}`).join('\n')}`);
    }
  } finally {
    await foundation.resources.closeAll();
    await service.end();
    await redis.stop();
  }
}

async function post(address: string, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${API_KEY}` };
  const answer = await fetch(address, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}: ${await answer.text()}`);
}

type FilesOf = (action: () => Promise<void>, isOver: () => Promise<boolean>) => Promise<string[]>;

/** Returns a function that lists the files with a function that is called from the action on until its work is over. */
async function countFiles(): Promise<FilesOf> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return async (action, isOver) => {
    await session.post('Profiler.takePreciseCoverage');
    await action();
    while (!(await isOver())) await pause(2);
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const called = result.filter(({ functions }) => functions.some(({ ranges: [range] }) => (range?.count ?? 0) > 0));
    const paths = called.map(({ url }) => relative(PROJECT, url.startsWith('file:') ? fileURLToPath(url) : url));
    return [...new Set(paths)].filter((path) => /^(src|jobs)\//.test(path)).toSorted();
  };
}

main().catch((error: unknown) => {
  printProblem(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = 1;
});
