import { spawn } from 'node:child_process';
import { closeSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { appendFile, lstat, readdir, readFile, rename, symlink, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { archiveFolder } from '../../src/archive/files';
import { readArchive, verifyArchive } from '../../src/archive/read';
import type { ArchiveBroken } from '../../src/archive/read-file';
import { batchKeys, reencryptArchive, type ReencryptArchiveOptions } from '../../src/archive/reencrypt';
import { ArchiveFailed, createArchiveWriter } from '../../src/archive/write';
import { DataKeys, type DecryptedBytes } from '../../src/platform/data-keys';
import { compiledFile } from '../support/compiled';
import { dataKeysText, linesOf, useDataKeysFile } from '../support/data-keys';
import { clockAt, delivery, idsIn, NOON_MS, readAll, useDataDir, writeBatches } from './folder';

const dataDir = useDataDir();
const keysFile = useDataKeysFile();
const text = dataKeysText('a', 'b', 'gone');
const keysOf = (...ids: readonly string[]) => new DataKeys('', linesOf(text, ...ids));
const pathOf = (epoch: number) => join(archiveFolder(dataDir.path), `2026-03-10.${epoch}.ndjson.gz`);
const drafts = () => join(dataDir.path, 'spool');

async function reencrypt(keys: DataKeys, options: Partial<ReencryptArchiveOptions> = {}): Promise<void> {
  const activeEpoch = () => Promise.resolve(null);
  const onStep = () => {};
  const onBroken = () => {};
  const given = { keys, clock: clockAt(NOON_MS), draftFolder: drafts(), activeEpoch, onStep, onBroken, ...options };
  await reencryptArchive(dataDir.path, given);
}

async function archiveKeys() {
  const broken: ArchiveBroken[] = [];
  const ids: (string | null)[] = [];
  for await (const id of batchKeys(dataDir.path, (found) => broken.push(found))) ids.push(id);
  return { ids, broken };
}

test('re-encrypting encrypts plain batches and those under an older key, with the same records in the same batches', async () => {
  await writeBatches(dataDir.path, [['d1', 'd2'], ['d3']], { epoch: 1 });
  await writeBatches(dataDir.path, [['d4']], { epoch: 2, keys: keysOf('a') });
  await writeBatches(dataDir.path, [['d5']], { epoch: 3, keys: keysOf('b') });
  const before = await readAll(dataDir.path, { keys: keysOf('a', 'b') });
  const untouched = await readFile(pathOf(3));

  const files: string[] = [];
  await reencrypt(keysOf('b', 'a'), { onStep: () => files.push('file') });

  expect(await readAll(dataDir.path, { keys: keysOf('b') })).toEqual(before);
  expect(await archiveKeys()).toEqual({ ids: ['b', 'b', 'b', 'b'], broken: [] });
  expect(await verifyArchive(dataDir.path)).toMatchObject({ files: 3, batches: 4, torn: [], broken: [] });
  expect((await readFile(pathOf(3))).equals(untouched)).toBe(true);
  expect([files.length, await readdir(drafts())]).toEqual([3, []]);
});

test('re-encrypting leaves a file of audit entries, one whose key is missing, and one that is broken', async () => {
  const writer = createArchiveWriter({ dataDir: dataDir.path, epoch: 1, clock: clockAt(NOON_MS) });
  await writer.append([{ type: 'audit', id: '7', data: { line: '7 1 abc {}' } }]);
  await writer.close();
  await writeBatches(dataDir.path, [['d1']], { epoch: 2, keys: keysOf('gone') });
  await writeBatches(dataDir.path, [['d2']], { epoch: 3 });
  await appendFile(pathOf(3), 'something else that is longer than a header of a batch');
  const bytes = () => Promise.all([1, 2, 3].map(async (epoch) => (await readFile(pathOf(epoch))).toString('latin1')));
  const before = await bytes();

  await reencrypt(keysOf('b'));

  expect(await bytes()).toEqual(before);
  expect(await archiveKeys()).toMatchObject({
    ids: ['gone', null],
    broken: [{ file: '2026-03-10.3.ndjson.gz' }],
  });
});

test('re-encrypting leaves the file of today of the process that archives, and rewrites it the next day', async () => {
  await writeBatches(dataDir.path, [['d1']], { epoch: 1 });
  await writeBatches(dataDir.path, [['d2']], { epoch: 2 });
  const activeEpoch = () => Promise.resolve(2);

  await reencrypt(keysOf('b'), { activeEpoch });
  expect((await archiveKeys()).ids).toEqual(['b', null]);

  await reencrypt(keysOf('b'), { activeEpoch, clock: clockAt(NOON_MS + 86_400_000) });
  expect((await archiveKeys()).ids).toEqual(['b', 'b']);
});

test('re-encrypting removes a torn batch, whose records were never removed from Redis', async () => {
  await writeBatches(dataDir.path, [['d1'], ['d2']], { keys: keysOf('b') });
  await truncate(pathOf(1), (await readFile(pathOf(1))).length - 1);

  await reencrypt(keysOf('b'));

  expect(await verifyArchive(dataDir.path)).toMatchObject({ batches: 1, torn: [], broken: [] });
});

test('re-encrypting a symbolic link rewrites the file that it names', async () => {
  await writeBatches(dataDir.path, [['d1']]);
  const named = join(dataDir.path, 'elsewhere');
  await rename(pathOf(1), named);
  await symlink(named, pathOf(1));

  await reencrypt(keysOf('b'));

  expect((await lstat(pathOf(1))).isSymbolicLink()).toBe(true);
  expect(gunzipSync(await readFile(named)).toString()).toContain('aes:1:b:');
  expect(await idsIn(dataDir.path, { keys: keysOf('b') })).toEqual(['d1']);
});

test('a reader that has opened a file reads it to its end while it is re-encrypted', async () => {
  await writeBatches(dataDir.path, [['d1'], ['d2'], ['d3']]);
  const seen: string[] = [];
  for await (const { id } of readArchive(dataDir.path)) {
    seen.push(id);
    if (id === 'd1') await reencrypt(keysOf('b'));
  }
  expect(seen).toEqual(['d1', 'd2', 'd3']);
});

test('a writer whose file was re-encrypted fails, so that its records stay in Redis', async () => {
  const writer = createArchiveWriter({ dataDir: dataDir.path, epoch: 1, clock: clockAt(NOON_MS) });
  await writer.append([delivery('d1')]);
  await reencrypt(keysOf('b'));

  await expect(writer.append([delivery('d2')])).rejects.toThrow(ArchiveFailed);
  await expect(writer.append([delivery('d2')])).rejects.toThrow('this writer failed before');
  expect(await idsIn(dataDir.path, { keys: keysOf('b') })).toEqual(['d1']);
});

/** Does something the first time that it opens a batch, which is when the draft of a plain file is checked. */
class InterruptedKeys extends DataKeys {
  constructor(private interrupt: () => void) {
    super('', linesOf(text, 'b'));
  }

  override decryptBytes(place: string, encrypted: string): DecryptedBytes {
    this.interrupt();
    this.interrupt = () => {};
    return super.decryptBytes(place, encrypted);
  }
}

test('a file that grows while it is re-encrypted stays as it is, and the next run rewrites it', async () => {
  await writeBatches(dataDir.path, [['d1'], ['d2']]);
  const whole = await readFile(pathOf(1));
  const secondAt = whole.indexOf(whole.subarray(0, 16), 1);
  await truncate(pathOf(1), secondAt);
  // A process that opened the file before it was closed to others may still write.
  const file = openSync(pathOf(1), 'a');

  await reencrypt(new InterruptedKeys(() => writeSync(file, whole.subarray(secondAt))));
  closeSync(file);
  expect((await readFile(pathOf(1))).equals(whole)).toBe(true);

  await reencrypt(keysOf('b'));
  expect((await archiveKeys()).ids).toEqual(['b', 'b']);
  expect(await idsIn(dataDir.path, { keys: keysOf('b') })).toEqual(['d1', 'd2']);
});

test('a file that is replaced while it is re-encrypted keeps what replaced it', async () => {
  await writeBatches(dataDir.path, [['d1']]);
  const other = await readFile(pathOf(1));
  await reencrypt(
    new InterruptedKeys(() => {
      writeFileSync(`${pathOf(1)}.new`, other);
      renameSync(`${pathOf(1)}.new`, pathOf(1));
    }),
  );
  expect((await readFile(pathOf(1))).equals(other)).toBe(true);
  expect(await readdir(drafts())).toEqual([]);
});

test.each([
  ['while a draft is written', 'draft'],
  ['before a draft replaces its file', 'before'],
  ['after a draft has replaced its file', 'after'],
])(
  're-encrypting that is killed %s leaves every record readable, and the next run completes it',
  async (_when, step) => {
    for (const epoch of [1, 2, 3]) await writeBatches(dataDir.path, [[`d${epoch}`], [`e${epoch}`]], { epoch });
    const expected = await readAll(dataDir.path);
    await keysFile.write(linesOf(text, 'b'));
    await killedReseal(step);

    const keys = keysOf('b');
    expect(await readAll(dataDir.path, { keys })).toEqual(expected);
    expect(await verifyArchive(dataDir.path)).toMatchObject({ files: 3, batches: 6, torn: [], broken: [] });
    expect((await archiveKeys()).ids).toContain(null);

    await reencrypt(keys);
    expect(new Set((await archiveKeys()).ids)).toEqual(new Set(['b']));
    expect(await readAll(dataDir.path, { keys })).toEqual(expected);
  },
);

test('a process that appends while its file is re-encrypted loses no acknowledged record when re-encrypting is killed', async () => {
  await writeBatches(dataDir.path, [['d1']], { epoch: 1 });
  await keysFile.write(linesOf(text, 'b'));
  // The process continues when the draft is about to replace its file, which has its first batch.
  expect(await killedReseal('append')).toBe('ArchiveFailed');

  const keys = keysOf('b');
  expect(await idsIn(dataDir.path, { keys })).toEqual(['d1', 'd2']);
  expect(await archiveKeys()).toEqual({ ids: ['b', 'b'], broken: [] });
});

/** Returns the output of a process that re-encrypts the archive and kills itself. */
async function killedReseal(step: string): Promise<string> {
  const sources = ['src/archive/reencrypt.ts', 'src/platform/data-keys.ts', 'src/archive/write.ts'];
  const modules = sources.map((source) => compiledFile(source));
  const child = spawn(process.execPath, ['-e', PROGRAM, step, dataDir.path, drafts(), keysFile.path, ...modules]);
  let output = '';
  child.stdout.on('data', (piece: Buffer) => (output += piece.toString()));
  expect(await new Promise((resolve) => child.once('close', (_code, signal) => resolve(signal)))).toBe('SIGKILL');
  return output;
}

/** Re-encrypts the archive, and kills itself at a step of the second file, which it writes itself for `append`. */
const PROGRAM = `
const [step, dataDir, draftFolder, dataKeysFile, reencrypt, dataKeys, write] = process.argv.slice(1);
const fs = require('node:fs/promises');
const { open, rename } = fs;
let renamed = 0;
const die = () => process.kill(process.pid, 'SIGKILL');
fs.rename = async (...paths) => {
  if (step === 'before' && renamed === 1) die();
  if (step === 'append' && renamed === 1) process.stdout.write(await append('d3').then(() => 'kept', ({ name }) => name));
  await rename(...paths);
  renamed += 1;
  if (step !== 'draft' && renamed === 2) die();
};
fs.open = async (...given) => {
  const handle = await open(...given);
  if (step === 'draft' && renamed === 1 && given[1] === 'wx') {
    handle.appendFile = async (bytes) => {
      await handle.write(bytes.subarray(0, 40));
      die();
    };
  }
  return handle;
};
const keys = require(dataKeys).openDataKeys({ dataKeysFile });
const clock = { id: () => require('node:crypto').randomUUID(), nowMs: () => ${NOON_MS} };
const writer = require(write).createArchiveWriter({ dataDir, epoch: 2, clock });
const append = (id) => writer.append([{ type: 'delivery', id, data: { rawBody: '' } }]);
const activeEpoch = async () => null;
void (async () => {
  if (step === 'append') await append('d2');
  await require(reencrypt).reencryptArchive(dataDir, { keys, clock, draftFolder, activeEpoch, onStep() {}, onBroken() {} });
})();
`;
