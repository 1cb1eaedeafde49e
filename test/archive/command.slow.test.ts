import { spawn } from 'node:child_process';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { archivedRecord } from '../../src/contracts/ops/archive';
import { archiveFolder } from '../../src/archive/files';
import { createArchiveWriter } from '../../src/archive/write';
import { openDataKeys } from '../../src/platform/data-keys';
import { compiledFile } from '../support/compiled';
import { dataKeysText, useDataKeysFile } from '../support/data-keys';
import { clockAt, delivery, NOON_MS, useDataDir, writeBatches } from './folder';

const dataDir = useDataDir();
const keysFile = useDataKeysFile();
const DAY_MS = 86_400_000;
const FILE = '2026-03-10.1.ndjson.gz';
const path = () => join(archiveFolder(dataDir.path), FILE);

interface Ran {
  readonly exitCode: number | null;
  readonly output: string;
  readonly problems: string;
}

/** Runs `towhook archive …`. Closes its output after `chunksMax` chunks. */
async function runArchive(
  words: readonly string[],
  { chunksMax = Infinity, environment = {} }: { chunksMax?: number; environment?: Record<string, string> } = {},
): Promise<Ran> {
  const child = spawn(process.execPath, [compiledFile('src/main/towhook.ts'), 'archive', ...words], {
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir.path, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, problems, chunks] = ['', '', 0];
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    chunks += 1;
    if (chunks >= chunksMax) child.stdout.destroy();
  });
  child.stderr.on('data', (chunk: Buffer) => (problems += chunk.toString()));
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return { exitCode, output, problems };
}

const recordsOf = ({ output }: Ran) =>
  output
    .trim()
    .split('\n')
    .map((line) => archivedRecord.parse(JSON.parse(line)));

test('towhook archive read prints records as NDJSON and filters by type and day', async () => {
  await writeBatches(dataDir.path, [['d1', 'd2']], { epoch: 1, nowMs: NOON_MS - DAY_MS });
  await writeBatches(dataDir.path, [['d1', 'd3']], { epoch: 2 });

  const all = await runArchive(['read']);
  expect(all).toMatchObject({ exitCode: 0, problems: '' });
  expect(recordsOf(all).map(({ id }) => id)).toEqual(['d1', 'd2', 'd1', 'd3']);
  const today = await runArchive(['read', '--type', 'delivery', '--from', '2026-03-10', '--to', '2026-03-10']);
  expect(recordsOf(today).map(({ id }) => id)).toEqual(['d1', 'd3']);
  expect(await runArchive(['read', '--type', 'tow'])).toEqual({ exitCode: 0, output: '', problems: '' });
});

test.each(['read', 'verify'])('towhook archive %s refuses a DATA_DIR that does not exist', async (verb) => {
  const environment = { DATA_DIR: join(dataDir.path, 'none') };
  const refused = await runArchive([verb], { environment });
  expect(refused).toMatchObject({ exitCode: 2, output: '' });
  expect(refused.problems).toContain('DATA_DIR is not a folder that exists');
  expect((await runArchive([verb])).exitCode).toBe(0);
});

test('towhook archive read --id prints the last record of an id', async () => {
  await writeBatches(dataDir.path, [['d1']], { epoch: 1, nowMs: NOON_MS - DAY_MS });
  await writeBatches(dataDir.path, [['d1']], { epoch: 2 });

  const found = recordsOf(await runArchive(['read', '--id', 'd1']));

  expect(found).toMatchObject([{ id: 'd1', archived_at: '2026-03-10T12:00:00.000Z' }]);
});

test.each([[[]], [['--json']]])(
  'towhook archive read prints the control characters of a webhook as escapes: %j',
  async (more) => {
    const words = 'seen\u009b2J\u202etxet';
    const writer = createArchiveWriter({ dataDir: dataDir.path, epoch: 1, clock: clockAt(NOON_MS), keys: null });
    await writer.append([delivery('d1', words)]);
    await writer.close();

    const { output, exitCode } = await runArchive(['read', ...more]);

    expect(exitCode).toBe(0);
    expect(output).toContain(String.raw`"seen\u009b2J\u202etxet"`);
    expect(output).not.toMatch(/[\u009b\u202e]/);
  },
);

test.each([
  [['--from', '2026-02-30'], 'It must be a day, YYYY-MM-DD.'],
  [['--to', '2026-13-01'], 'It must be a day, YYYY-MM-DD.'],
  [['--from', '2026-03-10', '--to', '2026-03-09'], '--to must not be before --from'],
])('towhook archive verify refuses %j and reads nothing', async (days, rule) => {
  await writeBatches(dataDir.path, [['d1']]);
  const refused = await runArchive(['verify', ...days]);
  expect(refused).toMatchObject({ exitCode: 2, output: '' });
  expect(refused.problems).toContain(rule);
});

test('towhook archive verify prints counts and reports a torn last batch without failing', async () => {
  await writeBatches(dataDir.path, [['d1', 'd2'], ['d3']]);
  const { length } = await readFile(path());
  expect(await runArchive(['verify'])).toEqual({
    exitCode: 0,
    output: `Folder: ${archiveFolder(dataDir.path)}\nFiles: 1\nBatches: 2\nRecords: 3 (tows 0, deliveries 3, violations 0, audit entries 0)\nTorn batches: 0\n`,
    problems: '',
  });

  await truncate(path(), length - 1);
  const torn = await runArchive(['verify']);
  expect(torn.exitCode).toBe(0);
  expect(torn.output).toMatch(/Batches: 1\n.*\nTorn batches: 1\n2026-03-10\.1\.ndjson\.gz: the last \d+ bytes/);
});

test('towhook archive read and verify fail on a changed byte and name file and batch', async () => {
  await writeBatches(dataDir.path, [['d1'], ['d2'], ['d3']]);
  const bytes = await readFile(path());
  const at = Math.floor(bytes.length / 2);
  bytes[at] = (bytes[at] ?? 0) ^ 0xff;
  await writeFile(path(), bytes);

  const verified = await runArchive(['verify']);
  expect(verified.exitCode).toBe(1);
  expect(verified.problems).toMatch(/^Not as it was written: 2026-03-10\.1\.ndjson\.gz: batch 2 /);
  const read = await runArchive(['read']);
  expect(read.exitCode).toBe(1);
  expect(read.problems).toMatch(/^Not as it was written: 2026-03-10\.1\.ndjson\.gz: batch 2 /);
  expect(recordsOf(read).map(({ id }) => id)).toEqual(['d1']);
});

test('towhook archive read prints the records of all other files when one is broken', async () => {
  await writeBatches(dataDir.path, [['d1'], ['d2']], { epoch: 1 });
  await writeBatches(dataDir.path, [['d3']], { epoch: 2 });
  const bytes = await readFile(path());
  await writeFile(path(), bytes.fill(0xff, (bytes.length >> 1) + 10, (bytes.length >> 1) + 20));

  const read = await runArchive(['read']);
  expect(read.exitCode).toBe(1);
  expect(recordsOf(read).map(({ id }) => id)).toEqual(['d1', 'd3']);
  expect(read.problems).toMatch(/^Not as it was written: 2026-03-10\.1\.ndjson\.gz: batch 2 .*\n$/);
  const document = await runArchive(['read', '--json']);
  expect(document).toMatchObject({ exitCode: 1, problems: '' });
  expect(JSON.parse(document.output)).toMatchObject({
    items: [{ id: 'd1' }, { id: 'd3' }],
    broken: [expect.stringMatching(/^2026-03-10\.1\.ndjson\.gz: batch 2 /)],
  });
});

test('towhook archive reads an encrypted archive with its key, verifies it without, and names a key that is missing', async () => {
  await keysFile.write(dataKeysText('a'));
  const keys = openDataKeys({ dataKeysFile: keysFile.path });
  await writeBatches(dataDir.path, [['d1', 'd2'], ['d3']], { keys });
  const environment = { DATA_KEYS_FILE: keysFile.path };

  const read = await runArchive(['read'], { environment });
  expect(recordsOf(read).map(({ id }) => id)).toEqual(['d1', 'd2', 'd3']);
  const verified = await runArchive(['verify'], { environment });
  expect([verified.exitCode, verified.output]).toEqual([
    0,
    expect.stringMatching(/deliveries 3.*\nTorn batches: 0\n$/),
  ]);

  const without = await runArchive(['verify']);
  expect([without.exitCode, without.problems]).toEqual([0, '']);
  expect(without.output).toMatch(
    /deliveries 3.*\nTorn batches: 0\nNot opened: 2 batches, which are as they were written, under the data key "a"/,
  );
  expect(await runArchive(['read'])).toEqual({
    exitCode: 2,
    output: '',
    problems: `${FILE}: batch 1 needs the data key "a", which DATA_KEYS_FILE does not have. Add the key to that file, and run the command again.\n`,
  });
});

test('towhook archive read ends without an error when the reader closes the pipe', async () => {
  const ids = Array.from({ length: 20_000 }, (_, index) => `d${index}`);
  await writeBatches(dataDir.path, [ids, ids, ids]);

  const { exitCode, problems } = await runArchive(['read'], { chunksMax: 1 });

  expect({ exitCode, problems }).toEqual({ exitCode: 0, problems: '' });
});

test.each([
  [[]],
  [['write']],
  [['read', '--type', 'digest']],
  [['read', '--from', 'yesterday']],
  [['read', '--unknown']],
  [['verify', '--id', 'd1']],
  [['read', 'd1']],
])('towhook archive rejects the invalid arguments %j', async (words) => {
  const { exitCode, output, problems } = await runArchive(words);

  expect({ exitCode, output }).toEqual({ exitCode: 2, output: '' });
  expect(problems).not.toBe('');
});
