import { execFile } from 'node:child_process';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createOperatorClient } from '../../src/demo/client';
import { eventually } from '../support/eventually';
import { startTestRedis, type TestRedis } from '../support/redis-server';
import { API_KEY, buildTown } from '../support/town';
import { requestTows, setFaults } from './simulator-control';

/** A Redis whose clock is ahead for a while: a library that `cc` compiles adds seconds from a file to its time of day. */

jest.setTimeout(300_000);
const HOUR_S = 3600;
/** A scan of the conservation check, and its pause. Without it the work waits for hours. */
const REPAIRED_WITHIN_MS = 60_000;

const LIBRARY = `
  #define _GNU_SOURCE
  #include <dlfcn.h>
  #include <fcntl.h>
  #include <stdlib.h>
  #include <sys/mman.h>
  #include <sys/time.h>
  int gettimeofday(struct timeval *time, void *zone) {
    static int (*real)(struct timeval *, void *);
    static const volatile long long *ahead;
    if (!real) real = dlsym(RTLD_NEXT, "gettimeofday");
    if (!ahead) ahead = mmap(0, 8, PROT_READ, MAP_SHARED, open(getenv("SECONDS_AHEAD"), O_RDONLY), 0);
    int result = real(time, zone);
    time->tv_sec += *ahead;
    return result;
  }
`;

let folder: string;
let redis: TestRedis;

async function setClockAhead(seconds: number): Promise<void> {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(seconds));
  const file = await open(join(folder, 'ahead'), 'r+');
  try {
    await file.write(bytes, 0, 8, 0);
  } finally {
    await file.close();
  }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'towhook-clock-'));
  const library = join(folder, 'clock.so');
  await writeFile(join(folder, 'clock.c'), LIBRARY);
  await promisify(execFile)('cc', ['-shared', '-fPIC', '-o', library, join(folder, 'clock.c'), '-ldl']);
  await writeFile(join(folder, 'ahead'), Buffer.alloc(8));
  Object.assign(process.env, { LD_PRELOAD: library, SECONDS_AHEAD: join(folder, 'ahead') });
  try {
    redis = await startTestRedis();
  } finally {
    delete process.env['LD_PRELOAD'];
    delete process.env['SECONDS_AHEAD'];
  }
});
afterAll(async () => {
  await redis.stop();
  await rm(folder, { recursive: true, force: true });
});

test('work goes on soon after the clock of Redis was three hours ahead for seconds', async () => {
  const town = await buildTown(redis.url);
  const app = await town.start('all');
  const client = createOperatorClient(await app.url('console'), API_KEY);
  const place = { towed_location: 'Olaya Street', latitude: 24.7, longitude: 46.7 };
  const startTows = async (count: number) => {
    const refs = await requestTows(town, { count });
    for (const ref of refs) {
      await eventually(async () => expect(await client.tow(ref)).not.toBeNull(), REPAIRED_WITHIN_MS);
      await client.recordFact(ref, 'started', { plate_number: 'ABC 1', ...place });
    }
    return refs;
  };
  const expectReported = (refs: readonly string[]) =>
    eventually(async () => {
      for (const ref of refs) expect((await client.tow(ref))?.reports[0]?.state).toBe('accepted');
    }, REPAIRED_WITHIN_MS);
  await expectReported(await startTows(1));

  await setClockAhead(3 * HOUR_S);
  await app.logged('clock.off');
  await setFaults(town, [{ operation: 'started', fault: '500' }]);
  // Each waits for its next try, and the outage for its probe, by the clock that is ahead.
  const during = await startTows(5);
  await app.logged('circuit.opened');
  await setFaults(town, []);
  await setClockAhead(0);

  await expectReported([...during, ...(await startTows(5))]);
});
