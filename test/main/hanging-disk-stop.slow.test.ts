import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { KEYS } from '../../src/store/keys';
import { runProgram } from '../cli/command';
import { useRedis } from '../support/redis';
import { buildTown } from '../support/town';

const redis = useRedis();

/** A folder of data whose disk hangs: a read of a named pipe does not end while nothing writes to it. */
async function hangDisk(dataDir: string): Promise<void> {
  await mkdir(join(dataDir, 'spool'), { recursive: true });
  execFileSync('mkfifo', [join(dataDir, 'spool', 'marker')]);
}

test('a process whose disk hangs closes everything at a SIGTERM, and ends itself by a signal', async () => {
  const town = await buildTown(redis.url);
  await hangDisk(town.environment['DATA_DIR'] ?? '');
  const all = await town.start('all', { STOP_GRACE_MS: '500' });
  all.kill('SIGTERM');

  expect(await all.exited).toBeNull();
  const messages = all.log.map(({ message }) => message);
  expect(messages.filter((message) => message === 'process.stopped' || message === 'process.disk_hangs')).toEqual([
    'process.stopped',
    'process.disk_hangs',
  ]);
});

test('towhook doctor prints its findings about a disk that hangs, and ends itself by a signal', async () => {
  const { environment } = await buildTown(redis.url);
  await hangDisk(environment['DATA_DIR'] ?? '');
  await redis.ask('SET', KEYS.spoolMarker, 'the shared disk');
  const { exitCode, out, problems } = await runProgram(['doctor'], { environment });

  expect(exitCode).toBeNull();
  expect(out).toContain('did not answer in time');
  expect(problems).toContain('ends itself by a signal');
});
