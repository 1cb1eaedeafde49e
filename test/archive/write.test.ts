import { createHash } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { archiveFolder } from '../../src/archive/files';
import { ArchiveFailed, createArchiveWriter } from '../../src/archive/write';
import { clockAt, delivery, idsIn, NOON_MS, readAll, useDataDir, writeBatches } from './folder';

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
