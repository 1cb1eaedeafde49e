import files from 'node:fs/promises';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { createSpool } from '../../src/spool';
import { PNG } from '../support/images';
import { KEEP_MS, newFolder, pieces, sharedMarker } from './world';

afterEach(() => jest.restoreAllMocks());

test('while a read of an image hangs, no further one begins, and one begins again once it has ended', async () => {
  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const spool = createSpool({
    dataDir: await newFolder(),
    marker: sharedMarker(),
    keepMs: KEEP_MS,
    clock,
    log: silentLog,
  });
  const place = { kind: 'violation', id: 'U1' } as const;
  const upload = await spool.begin();
  const stored = await upload.write(pieces(PNG));
  await upload.keep(place);
  let answer = () => {};
  const hanging = new Promise<never>((_resolve, reject) => {
    answer = () => reject(new Error('EIO'));
  });
  const stat = jest.spyOn(files, 'stat').mockReturnValueOnce(hanging);

  const first = spool.sourceOf(place, stored);
  nowMs += 2000;
  expect(await spool.sourceOf(place, stored)).not.toBeNull();
  nowMs += 1000;
  await expect(spool.sourceOf(place, stored)).rejects.toThrow('the disk of DATA_DIR does not answer');
  expect(stat).toHaveBeenCalledTimes(2);

  answer();
  await expect(first).rejects.toThrow('EIO');
  expect(await spool.sourceOf(place, stored)).not.toBeNull();
});
