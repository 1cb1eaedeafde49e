import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { spoolCheck } from '../../src/main/health';
import { systemClock } from '../../src/platform/clock';
import { throttledLog } from '../../src/platform/log/log-throttle';
import { inTime } from '../support/eventually';
import { recordedLog } from '../support/recorded-log';
import { newFolder, openSpool, sharedMarker } from '../spool/world';

/** Half the limit of a check: in a run that is faster, the disk has answered each check in time. */
const RUN_LIMIT_MS = 1000;

/** A process with a disk of its own, beside one whose disk is in use. */
async function onAnotherDisk() {
  const [dataDir, marker] = [await newFolder(), sharedMarker()];
  await openSpool(await newFolder(), marker).state();
  const { log, lines } = recordedLog();
  const check = spoolCheck({
    spool: openSpool(dataDir, marker),
    troubleLog: throttledLog(log, { clock: systemClock }),
  });
  const file = join(dataDir, 'spool', 'marker');
  await mkdir(join(dataDir, 'spool'));
  return { check, lines, file, share: async () => writeFile(file, (await marker.read()) ?? '') };
}

test('a disk that is not the shared one is logged once, and again when it is', async () => {
  const { foreign, shared, lines } = await inTime(RUN_LIMIT_MS, async () => {
    const disk = await onAnotherDisk();
    const twice = async () => [(await disk.check()).ready, (await disk.check()).ready];
    const foreign = await twice();
    await disk.share();
    return { foreign, shared: await twice(), lines: disk.lines };
  });

  expect([foreign, shared]).toEqual([
    [false, false],
    [true, true],
  ]);
  expect(lines).toEqual([
    { level: 'error', event: 'spool.foreign', problem: expect.stringContaining('is not mounted') as unknown },
    { level: 'info', event: 'spool.shared' },
  ]);
});

test('a disk that becomes unusable is logged with the cause', async () => {
  const { usable, lines } = await inTime(RUN_LIMIT_MS, async () => {
    const { check, lines, file, share } = await onAnotherDisk();
    await share();
    await check();
    const usable = [...lines];

    await rm(file);
    await mkdir(file);
    await check();
    await check();
    return { usable, lines };
  });

  expect(usable).toEqual([]);
  expect(lines).toEqual([
    { level: 'error', event: 'spool.unusable', problem: expect.stringMatching(/ \(EISDIR\)$/) as unknown },
  ]);
});

test('a disk that hangs is logged, and named on /readyz', async () => {
  const { check, lines, file } = await onAnotherDisk();
  // Opening a FIFO for reading blocks until a writer opens it.
  execFileSync('mkfifo', [file]);
  try {
    const problem = 'the disk of DATA_DIR/spool does not answer';
    expect((await check()).details).toEqual({ spool: 'unusable', spool_problem: problem });
    expect(lines).toEqual([{ level: 'error', event: 'spool.unusable', problem }]);
  } finally {
    const writer = openSync(file, constants.O_RDWR | constants.O_NONBLOCK);
    await rm(file);
    await writeFile(file, 'an id');
    writeSync(writer, 'an id');
    closeSync(writer);
  }
});
