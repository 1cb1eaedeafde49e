import { createHash } from 'node:crypto';
import { readdir, readFile, stat, writeFile, appendFile, mkdir, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { archiveFolder } from '../../src/archive/files';
import { ArchiveFailed, createArchiveWriter } from '../../src/archive/write';
import { clockAt, delivery, idsIn, NOON_MS, readAll, useDataDir, writeBatches } from './folder';
import { ArchiveBroken } from '../../src/archive/read-file';
import { compressMember } from '../../src/archive/member';
import { readArchive, verifyArchive, type TornBatch } from '../../src/archive/read';

const dataDir = useDataDir();
const filesThere = async () => (await readdir(archiveFolder(dataDir.path))).toSorted();

test('records appended to the archive are read back in order with their archiving time', async () => {
  const writer = createArchiveWriter({ dataDir: dataDir.path, epoch: 1, clock: clockAt(NOON_MS) });
  await writer.append([
    { type: 'tow', id: 'T1', data: { tow: { plateNumber: 'أ ب ح 1234' } } },
    { type: 'delivery', id: 'd1', data: { rawBody: '{"a": "line\\nfeed"}\n' } },
  ]);
  await writer.append([{ type: 'audit', id: '7', data: { line: '7 1 abc {}' } }]);
  await writer.close();

  const archived_at = '2026-03-10T12:00:00.000Z';
  expect(await readAll(dataDir.path)).toEqual([
    { type: 'tow', id: 'T1', archived_at, data: { tow: { plateNumber: 'أ ب ح 1234' } } },
    { type: 'delivery', id: 'd1', archived_at, data: { rawBody: '{"a": "line\\nfeed"}\n' } },
    { type: 'audit', id: '7', archived_at, data: { line: '7 1 abc {}' } },
  ]);
});

test('an archive file unzips to NDJSON in which each batch has a digest that names the batch before', async () => {
  await writeBatches(dataDir.path, [['d1', 'd2'], ['d3']]);

  const bytes = await readFile(join(archiveFolder(dataDir.path), '2026-03-10.1.ndjson.gz'));
  const lines = gunzipSync(bytes).toString().trim().split('\n');
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { type: 'delivery', id: 'd1' },
    { type: 'delivery', id: 'd2' },
    { type: 'digest', lines: 2, sha256: hash(`${lines[0]}\n${lines[1]}\n`), previous: '' },
    { type: 'delivery', id: 'd3' },
    { type: 'digest', lines: 1, sha256: hash(`${lines[3]}\n`), previous: hash(lines[2] ?? '') },
  ]);
});

test('the archive begins a new file with each day in Riyadh', async () => {
  const clock = clockAt(Date.UTC(2026, 2, 10, 20, 59));
  const writer = createArchiveWriter({ dataDir: dataDir.path, epoch: 4, clock });
  await writer.append([delivery('before')]);
  clock.move(2 * 60_000);
  await writer.append([delivery('after')]);
  await writer.close();

  expect(await filesThere()).toEqual(['2026-03-10.4.ndjson.gz', '2026-03-11.4.ndjson.gz']);
  expect(await idsIn(dataDir.path)).toEqual(['before', 'after']);
});

test('archive files are readable only by the user of the process', async () => {
  await writeBatches(dataDir.path, [['d1']]);

  const folder = archiveFolder(dataDir.path);
  const modes = await Promise.all([folder, join(folder, '2026-03-10.1.ndjson.gz')].map((path) => stat(path)));
  expect(modes.map(({ mode }) => (mode & 0o777).toString(8))).toEqual(['700', '600']);
});

test('two archive writers with the same number never share a file', async () => {
  await writeBatches(dataDir.path, [['d1']]);
  const second = createArchiveWriter({ dataDir: dataDir.path, epoch: 1, clock: clockAt(NOON_MS) });

  await expect(second.append([delivery('d2')])).rejects.toThrow(ArchiveFailed);

  expect(await idsIn(dataDir.path)).toEqual(['d1']);
});

test('appending no records to the archive writes no file', async () => {
  const writer = createArchiveWriter({ dataDir: dataDir.path, epoch: 1, clock: clockAt(NOON_MS) });
  await writer.append([]);

  await expect(stat(archiveFolder(dataDir.path))).rejects.toThrow('ENOENT');
});

test('an archive writer fails on a folder that cannot be written, and writes no more', async () => {
  const blocked = join(dataDir.path, 'a-file');
  await writeFile(blocked, '');
  const writer = createArchiveWriter({ dataDir: blocked, epoch: 1, clock: clockAt(NOON_MS) });

  await expect(writer.append([delivery('d1')])).rejects.toMatchObject({ name: 'ArchiveFailed', code: 'ENOTDIR' });
  await expect(writer.append([delivery('d1')])).rejects.toThrow(ArchiveFailed);
});
const DAY_MS = 86_400_000;
const FILE = '2026-03-10.1.ndjson.gz';
const pathOf = (file: string) => join(archiveFolder(dataDir.path), file);

/** Where the members of a file begin, and its end: only a header begins with these bytes. */
async function boundaries(): Promise<number[]> {
  const bytes = await readFile(pathOf(FILE));
  const magic = bytes.subarray(0, 16);
  const found: number[] = [];
  for (let at = bytes.indexOf(magic); at !== -1; at = bytes.indexOf(magic, at + 1)) found.push(at);
  return [...found, bytes.length];
}

async function idsAndTorn(): Promise<{ ids: string[]; torn: TornBatch[] }> {
  const torn: TornBatch[] = [];
  return { ids: await idsIn(dataDir.path, { onTorn: (batch) => torn.push(batch) }), torn };
}

test('an archive that does not exist is read as empty', async () => {
  expect(await idsIn(dataDir.path)).toEqual([]);
  expect(await verifyArchive(dataDir.path)).toMatchObject({ files: 0, batches: 0, torn: [], broken: [] });
});

test('archive files are read by day, then by writer', async () => {
  await writeBatches(dataDir.path, [['third']], { epoch: 10 });
  await writeBatches(dataDir.path, [['second']], { epoch: 9 });
  await writeBatches(dataDir.path, [['first']], { epoch: 11, nowMs: NOON_MS - DAY_MS });
  await writeFile(pathOf('notes.txt'), 'not ours');

  expect(await idsIn(dataDir.path)).toEqual(['first', 'second', 'third']);
});

test('an archive filter selects by type, id and days', async () => {
  await writeBatches(dataDir.path, [['d1', 'd2']], { epoch: 1, nowMs: NOON_MS - DAY_MS });
  await writeBatches(dataDir.path, [['d1', 'd3']], { epoch: 2 });

  expect(await idsIn(dataDir.path, { type: 'delivery', id: 'd1' })).toEqual(['d1', 'd1']);
  expect(await idsIn(dataDir.path, { type: 'tow' })).toEqual([]);
  expect(await idsIn(dataDir.path, { from: '2026-03-10' })).toEqual(['d1', 'd3']);
  expect(await idsIn(dataDir.path, { to: '2026-03-09' })).toEqual(['d1', 'd2']);
});

test('an archive whose last batch is cut at any byte is read up to that batch and the rest is reported', async () => {
  await writeBatches(dataDir.path, [['d1'], ['d2']]);
  const whole = await readFile(pathOf(FILE));
  const [, secondAt = 0] = await boundaries();

  for (let size = secondAt + 1; size < whole.length; size += 1) {
    await writeFile(pathOf(FILE), whole.subarray(0, size));
    expect(await idsAndTorn()).toEqual({ ids: ['d1'], torn: [{ file: FILE, bytes: size - secondAt }] });
  }
});

test('an archive whose last batch has blocks unwritten by a power failure is read up to that batch', async () => {
  await writeBatches(dataDir.path, [['d1'], ['d2']]);
  const whole = await readFile(pathOf(FILE));
  const [, secondAt = 0] = await boundaries();

  for (const written of [secondAt, secondAt + 40]) {
    await truncate(pathOf(FILE), written);
    await truncate(pathOf(FILE), whole.length);
    expect(await idsAndTorn()).toMatchObject({ ids: ['d1'], torn: [{ file: FILE }] });
    await writeFile(pathOf(FILE), whole);
  }
});

test('a changed byte anywhere in an archive is an error that names file and batch', async () => {
  await writeBatches(dataDir.path, [['d1'], ['d2']]);
  const whole = await readFile(pathOf(FILE));
  const [, secondAt = 0] = await boundaries();

  for (let at = 0; at < whole.length; at += 1) {
    const changed = Buffer.from(whole);
    changed[at] = (whole[at] ?? 0) ^ 0x01;
    await writeFile(pathOf(FILE), changed);
    const { broken, torn } = await verifyArchive(dataDir.path);
    expect({ at, torn, broken: broken.map(({ file, batch }) => ({ file, batch })) }).toEqual({
      at,
      torn: [],
      broken: [{ file: FILE, batch: at < secondAt ? 1 : 2 }],
    });
  }
});

test('reading an archive returns the records before a changed byte and none after it', async () => {
  await writeBatches(dataDir.path, [['d1'], ['d2'], ['d3']]);
  const whole = await readFile(pathOf(FILE));
  const [, secondAt = 0] = await boundaries();
  whole[secondAt + 60] = (whole[secondAt + 60] ?? 0) ^ 0xff;
  await writeFile(pathOf(FILE), whole);

  const seen: string[] = [];
  const reading = async () => {
    for await (const { id } of readArchive(dataDir.path)) seen.push(id);
  };

  await expect(reading()).rejects.toThrow(new ArchiveBroken(FILE, 2, 'cannot be uncompressed').message);
  expect(seen).toEqual(['d1']);
});

test('an archive batch that was removed, moved or doubled is an error', async () => {
  await writeBatches(dataDir.path, [['d1'], ['d2'], ['d3']]);
  const whole = await readFile(pathOf(FILE));
  const cuts = await boundaries();
  const batches = [0, 1, 2].map((index) => whole.subarray(cuts[index], cuts[index + 1]));
  const pick = (...order: number[]) => Buffer.concat(order.map((index) => batches[index] ?? Buffer.alloc(0)));

  for (const [order, batch] of [
    [[1, 2], 1],
    [[0, 2], 2],
    [[0, 2, 1], 2],
    [[0, 0, 1, 2], 2],
  ] as const) {
    await writeFile(pathOf(FILE), pick(...order));
    expect((await verifyArchive(dataDir.path)).broken).toMatchObject([
      { batch, problem: 'does not follow the batch before it' },
    ]);
  }
});

test('an archive batch that was rewritten under its old digest is an error', async () => {
  await writeBatches(dataDir.path, [['d1']]);
  const text = gunzipSync(await readFile(pathOf(FILE)));
  await writeFile(pathOf(FILE), await compressMember(Buffer.from(text.toString().replace('"d1"', '"d2"'))));

  expect((await verifyArchive(dataDir.path)).broken).toMatchObject([
    { file: FILE, batch: 1, problem: 'holds lines that are not those of its digest' },
  ]);
});

test('foreign bytes in an archive file are an error, and the other files are still verified', async () => {
  await writeBatches(dataDir.path, [['d1']]);
  await writeBatches(dataDir.path, [['d2'], ['d3']], { epoch: 2 });
  await appendFile(pathOf(FILE), 'something else that is longer than a header of a batch');

  expect(await verifyArchive(dataDir.path)).toMatchObject({
    files: 2,
    batches: 3,
    records: { tow: 0, delivery: 3, audit: 0 },
    broken: [{ file: FILE, batch: 2, problem: 'does not begin as a batch does' }],
  });
});

test('a large archive batch is read as it was written', async () => {
  const ids = Array.from({ length: 5000 }, (_, index) => `d${index}`);
  await writeBatches(dataDir.path, [ids, ids]);

  expect(await idsIn(dataDir.path)).toEqual([...ids, ...ids]);
});

test('an archive folder that cannot be read is an error, not an empty archive', async () => {
  await mkdir(dataDir.path, { recursive: true });
  await writeFile(archiveFolder(dataDir.path), 'a file');

  await expect(idsIn(dataDir.path)).rejects.toThrow('ENOTDIR');
});
