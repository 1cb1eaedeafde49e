import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { archiveFolder } from '../../src/archive/files';
import { compressMember } from '../../src/archive/member';
import { ArchiveBroken, ArchiveKeyMissing } from '../../src/archive/read-file';
import { verifyArchive } from '../../src/archive/read';
import { createArchiveWriter } from '../../src/archive/write';
import { DataKeys } from '../../src/platform/data-keys';
import { sha256Hex } from '../../src/platform/hash';
import { dataKeysText, linesOf } from '../support/data-keys';
import { clockAt, delivery, idsIn, NOON_MS, readAll, useDataDir, writeBatches } from './folder';

const dataDir = useDataDir();
const text = dataKeysText('a', 'b');
const keysOf = (...ids: readonly string[]) => new DataKeys('', linesOf(text, ...ids));
const FILE = '2026-03-10.1.ndjson.gz';
const pathOf = (file = FILE) => join(archiveFolder(dataDir.path), file);
const storedLines = async (file = FILE) =>
  gunzipSync(await readFile(pathOf(file)))
    .toString()
    .trim()
    .split('\n');

/** Writes a file whose batches are these lines, with encrypts that hold: what someone can do who has no key. */
async function forge(lines: readonly string[], file = FILE): Promise<void> {
  const members: Buffer[] = [];
  let previous = '';
  for (const line of lines) {
    const digest = JSON.stringify({ type: 'digest', lines: 1, sha256: sha256Hex(`${line}\n`), previous });
    members.push(await compressMember(Buffer.from(`${line}\n${digest}\n`)));
    previous = sha256Hex(digest);
  }
  await writeFile(pathOf(file), Buffer.concat(members));
}

test('an encrypted archive is read back as it was appended, and its file shows no record', async () => {
  const keys = keysOf('a');
  const writer = createArchiveWriter({ dataDir: dataDir.path, epoch: 1, clock: clockAt(NOON_MS), keys });
  await writer.append([
    { type: 'tow', id: 'T1', data: { tow: { plateNumber: 'أ ب ح 1234' } } },
    { type: 'delivery', id: 'd1', data: { rawBody: 'Salem "of" Riyadh\n' } },
  ]);
  await writer.append([delivery('d2')]);
  await writer.close();

  const archived_at = '2026-03-10T12:00:00.000Z';
  expect(await readAll(dataDir.path, { keys })).toEqual([
    { type: 'tow', id: 'T1', archived_at, data: { tow: { plateNumber: 'أ ب ح 1234' } } },
    { type: 'delivery', id: 'd1', archived_at, data: { rawBody: 'Salem "of" Riyadh\n' } },
    { type: 'delivery', id: 'd2', archived_at, data: { rawBody: 'a body' } },
  ]);
  const [line = '', digest = '', second = ''] = await storedLines();
  expect(JSON.parse(line)).toEqual({
    type: 'encrypted',
    records: { tow: 1, delivery: 1 },
    data: expect.stringMatching(/^aes:1:a:[\w+/=]+$/) as unknown,
  });
  expect(JSON.parse(digest)).toMatchObject({ type: 'digest', lines: 1, sha256: sha256Hex(`${line}\n`), previous: '' });
  expect(JSON.parse(second)).toMatchObject({ type: 'encrypted', records: { delivery: 1 } });
});

test('without keys a file has the bytes of plain lines and their encrypts, and nothing else', async () => {
  await writeBatches(dataDir.path, [['d1'], ['d2']]);
  const lineOf = (id: string) =>
    `{"type":"delivery","id":"${id}","data":{"rawBody":"a body"},"archived_at":"2026-03-10T12:00:00.000Z"}\n`;
  const sealOf = (lines: string, previous: string) =>
    `{"type":"digest","lines":1,"sha256":"${sha256Hex(lines)}","previous":"${previous}"}`;
  const first = sealOf(lineOf('d1'), '');
  const texts = [`${lineOf('d1')}${first}\n`, `${lineOf('d2')}${sealOf(lineOf('d2'), sha256Hex(first))}\n`];

  const members = await Promise.all(texts.map((each) => compressMember(Buffer.from(each))));
  expect((await readFile(pathOf())).equals(Buffer.concat(members))).toBe(true);
});

test('audit entries stay plain beside keys, so that their chain holds without one', async () => {
  const writer = createArchiveWriter({ dataDir: dataDir.path, epoch: 1, clock: clockAt(NOON_MS), keys: keysOf('a') });
  await writer.append([delivery('d1')]);
  await writer.append([{ type: 'audit', id: '7', data: { line: '7 1 abc {}' } }]);
  await writer.close();

  expect(await idsIn(dataDir.path, { type: 'audit' })).toEqual(['7']);
});

test('an archive with batches of no key and of two keys is read in its order', async () => {
  await writeBatches(dataDir.path, [['d1'], ['d2']], { epoch: 1 });
  await writeBatches(dataDir.path, [['d3']], { epoch: 2, keys: keysOf('a') });
  await writeBatches(dataDir.path, [['d4'], ['d5']], { epoch: 3, keys: keysOf('b', 'a') });

  expect(await idsIn(dataDir.path, { keys: keysOf('b', 'a') })).toEqual(['d1', 'd2', 'd3', 'd4', 'd5']);
});

test('an encrypted archive verifies without its key, with the counts of its records', async () => {
  await writeBatches(dataDir.path, [['d1', 'd2'], ['d3']], { keys: keysOf('a') });

  for (const keys of [null, keysOf('b')]) {
    expect(await verifyArchive(dataDir.path, { keys })).toMatchObject({
      batches: 2,
      records: { delivery: 3 },
      unopened: { a: 2 },
      broken: [],
    });
  }
  expect(await verifyArchive(dataDir.path, { keys: keysOf('a') })).toMatchObject({ unopened: {}, broken: [] });
});

test('reading an encrypted archive without its key names file, key and variable, and needs no key for other records', async () => {
  await writeBatches(dataDir.path, [['d1']], { epoch: 1 });
  await writeBatches(dataDir.path, [['d2']], { epoch: 2, keys: keysOf('a') });

  const message = '2026-03-10.2.ndjson.gz: batch 1 needs the data key "a", which DATA_KEYS_FILE does not have';
  await expect(readAll(dataDir.path)).rejects.toThrow(new ArchiveKeyMissing('2026-03-10.2.ndjson.gz', 1, 'a'));
  await expect(readAll(dataDir.path, { keys: keysOf('b') })).rejects.toThrow(message);
  expect(await idsIn(dataDir.path, { type: 'tow' })).toEqual([]);
});

test('an archive cannot be decrypted with another key of the same id', async () => {
  await writeBatches(dataDir.path, [['d1']], { keys: keysOf('a') });
  const other = new DataKeys('', dataKeysText('a'));

  await expect(readAll(dataDir.path, { keys: other })).rejects.toThrow(ArchiveBroken);
  const { broken } = await verifyArchive(dataDir.path, { keys: other });
  expect(broken.map(({ message }) => message)).toEqual([
    expect.stringContaining('batch 1 cannot be decrypted with the data key "a"'),
  ]);
});

test('a changed byte of an encrypted archive is found without a key', async () => {
  await writeBatches(dataDir.path, [['d1'], ['d2']], { keys: keysOf('a') });
  const whole = await readFile(pathOf());
  for (let at = 0; at < whole.length; at += 7) {
    const changed = Buffer.from(whole);
    changed[at] = (whole[at] ?? 0) ^ 0x01;
    await writeFile(pathOf(), changed);
    expect((await verifyArchive(dataDir.path)).broken).toHaveLength(1);
  }
});

test('an encrypted line that was moved cannot be decrypted, although the digests were made again', async () => {
  const keys = keysOf('a');
  await writeBatches(dataDir.path, [['d1'], ['d2']], { epoch: 1, keys });
  await writeBatches(dataDir.path, [['d3']], { epoch: 2, keys });
  const [first = '', , second = ''] = await storedLines();
  const [foreign = ''] = await storedLines('2026-03-10.2.ndjson.gz');
  const recounted = first.replace('{"delivery":1}', '{"tow":1}');
  await forge([first, second]);
  // Each line at its own place.
  expect(await idsIn(dataDir.path, { keys, to: '2026-03-10' })).toEqual(['d1', 'd2', 'd3']);

  for (const [lines, batch] of [
    [[second, first], 1],
    [[second], 1],
    [[first, first], 2],
    [[foreign, second], 1],
    [[recounted, second], 1],
  ] as const) {
    await forge(lines);
    const { broken } = await verifyArchive(dataDir.path, { keys });
    expect(broken).toMatchObject([{ file: FILE, batch }]);
  }
});

test('encryption makes an archive at most 4 % larger', async () => {
  const words = (seed: number) =>
    Array.from({ length: 60 }, (_, at) => sha256Hex(`${seed} ${at % 7}`).slice(0, 6)).join(' ');
  const records = Array.from({ length: 100 }, (_, at) => delivery(`d${at}`, words(at)));
  for (const [epoch, keys] of [
    [1, null],
    [2, keysOf('a')],
  ] as const) {
    const writer = createArchiveWriter({ dataDir: dataDir.path, epoch, clock: clockAt(NOON_MS), keys });
    await writer.append(records);
    await writer.close();
  }
  const [plain, encrypted] = await Promise.all([1, 2].map((epoch) => stat(pathOf(`2026-03-10.${epoch}.ndjson.gz`))));
  expect((encrypted?.size ?? Infinity) / (plain?.size ?? 1)).toBeLessThan(1.04);
});
