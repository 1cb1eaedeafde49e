import { spawn } from 'node:child_process';
import { appendFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { createArchiveWriter } from '../../src/archive/write';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { createAuditStore } from '../../src/store/ops/audit';
import { startEmbeddedRedis } from '../../src/embedded-redis/start';
import { KEYS } from '../../src/store/keys';
import { compiledFile } from '../support/compiled';
import { openStores, START, useStores } from '../support/stores';

const stores = useStores();
const redis = stores.server;
let dataDir = '';
let withoutRedis: Promise<Ran>;
beforeAll(() => {
  // The command waits 5 s for Redis; meanwhile the other tests run.
  withoutRedis = runAudit(['verify'], { REDIS_URL: 'redis://127.0.0.1:1', DATA_DIR: join(tmpdir(), 'towhook-absent') });
});
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'towhook-audit-'));
});
afterEach(async () => {
  await rm(dataDir, { recursive: true, force: true });
});

interface Ran {
  readonly exitCode: number | null;
  readonly output: string;
  readonly problems: string;
}

/** Runs `towhook audit …`. */
async function runAudit(words: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const child = spawn(process.execPath, [compiledFile('src/main/towhook.ts'), 'audit', ...words], {
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir, REDIS_URL: redis.url, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, problems] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (problems += chunk.toString()));
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return { exitCode, output, problems };
}

/** Writes six audit entries. */
async function sixActs(): Promise<void> {
  for (const ref of ['T1', 'T2']) {
    await stores.request(ref);
    await stores.say(ref, START);
    await stores.say(ref, { event: 'detained' });
    await stores.say(ref, { event: 'released' });
  }
}

/** Moves the oldest lines to the archive, as retention does. `kept` of them also stay in Redis, as after a crash. */
async function archive(count: number, kept = 0): Promise<void> {
  const lines = (await createAuditStore(stores.redis).lines()).slice(0, count);
  const writer = createArchiveWriter({ dataDir, epoch: 1, clock: systemClock });
  const records = lines.map((line) => ({ type: 'audit' as const, id: line.split(' ')[0] ?? '', data: { line } }));
  await writer.append(records);
  await writer.close();
  await stores.redis.ltrim(KEYS.audit, count - kept, -1);
}

const headOf = ({ output }: Ran) => z.string().parse(/^Head: (\S+)$/m.exec(output)?.[1]);

test('towhook audit verify confirms an intact audit and prints its count, extent and head', async () => {
  await sixActs();
  const ran = await runAudit(['verify']);
  expect(ran).toMatchObject({ exitCode: 0, problems: '' });
  expect(ran.output).toMatch(/^Entries checked: 6, from 1 to 6\nHead: 6:[0-9a-f]{40}\nThe chain holds\.\n$/);
});

test('towhook audit verify follows the audit from the archive into Redis when some entries are in both', async () => {
  await sixActs();
  const before = await runAudit(['verify']);
  await archive(4, 2);
  expect(await runAudit(['verify'])).toEqual(before);
});

test.each([
  ['changed', () => stores.redis.lset(KEYS.audit, 1, '5 1700000000000 00000000000000000000000000000000000000ab {}'), 5],
  ['removed', () => stores.redis.ltrim(KEYS.audit, 1, -1), 4],
] as const)('towhook audit verify exits with 1 and names an entry that was %s', async (_what, touch, seq) => {
  await sixActs();
  await archive(3);
  await touch();
  const ran = await runAudit(['verify']);
  expect(ran.exitCode).toBe(1);
  expect(ran.problems).toMatch(new RegExp(`^The chain breaks at entry ${seq}: `));
  expect(ran.output).toMatch(new RegExp(`^Entries checked: ${seq - 1}, from 1 to ${seq - 1}\n`));
});

test('towhook audit verify finds entries missing at the end when it gets an earlier head', async () => {
  await sixActs();
  const noted = headOf(await runAudit(['verify']));
  await stores.say(await stores.request('T3'), START);
  expect((await runAudit(['verify', noted])).exitCode).toBe(0);

  await stores.redis.ltrim(KEYS.audit, 0, 3);

  expect((await runAudit(['verify'])).exitCode).toBe(0);
  const missed = await runAudit(['verify', noted]);
  expect(missed.exitCode).toBe(1);
  expect(missed.problems).toMatch(/^The chain breaks at entry 5: /);
});

test('towhook audit verify exits with 1 for an archive with bytes that towhook did not write', async () => {
  await sixActs();
  await archive(3);
  const [file = ''] = await readdir(join(dataDir, 'archive'));
  await appendFile(join(dataDir, 'archive', file), 'and this was never written by towhook');
  const ran = await runAudit(['verify']);
  expect(ran.exitCode).toBe(1);
  expect(ran.problems).toContain(`The archive is broken: ${file}`);
});

test('towhook audit verify reads the embedded Redis of DATA_DIR without REDIS_URL', async () => {
  const { PATH: searchPath = '', REDIS_SERVER_BIN: binary = null } = process.env;
  const lookup = { searchPath, binary };
  const embedded = await startEmbeddedRedis({ dataDir, log: silentLog, lookup });
  const own = await openStores(embedded.url);
  await own.say(await own.request('T1'), START);
  own.close();
  await embedded.stop();

  const ran = await runAudit(['verify'], { REDIS_URL: '' });

  expect(ran).toMatchObject({ exitCode: 0, problems: '' });
  expect(ran.output).toMatch(/^Entries checked: 1, from 1 to 1\n/);
});

test('towhook audit verify exits with 2 and starts no Redis without REDIS_URL and embedded data', async () => {
  const ran = await runAudit(['verify'], { REDIS_URL: '' });
  expect(ran).toMatchObject({ exitCode: 2, output: '' });
  expect(ran.problems).toContain('there is nothing to check: DATA_DIR has no embedded Redis and REDIS_URL is not set');
  expect(await readdir(dataDir)).toEqual([]);
});

test.each([
  ['an unknown command', ['repair'], {}, 'unknown command'],
  ['an invalid head', ['verify', '7'], {}, 'head must be <seq>:<hash>'],
  ['a second head', ['verify', '7', '8'], {}, 'too many arguments'],
  ['an invalid configuration', ['verify'], { REDIS_URL: 'nowhere' }, 'REDIS_URL must '],
] as const)('towhook audit verify exits with 2 and the reason for %s', async (_cause, words, environment, problem) => {
  expectNotChecked(await runAudit(words, environment), problem);
});

test('towhook audit verify exits with 3 and the reason when Redis does not answer', async () => {
  expectNotChecked(await withoutRedis, 'could not be checked: Redis cannot ', 3);
});

function expectNotChecked(ran: Ran, problem: string, exitCode = 2): void {
  expect(ran).toMatchObject({ exitCode, output: '' });
  expect(ran.problems).toContain(problem);
}
