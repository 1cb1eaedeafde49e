import { openFoundation } from '../../src/main/foundation';
import { silentLog } from '../../src/platform/log/log';
import { eventually } from '../support/eventually';
import { startProcess } from '../support/process';
import { type RoleProcess } from '../support/role-process';
import {
  outcomes,
  person,
  previewed,
  refusedReports,
  runIn,
  runsOf,
  timesDecided,
  useRunWorld,
} from '../workflow/run-world';

const TASKS = 200;

const world = useRunWorld();

async function startWorker(): Promise<RoleProcess> {
  const environment = {
    REDIS_URL: world.redis.url,
    SERVICE_BASE_URL: 'http://127.0.0.1:1/parking/api',
    SERVICE_CLIENT_ID: 'client-of-the-tests',
    SERVICE_CLIENT_SECRET: 'secret-of-the-tests',
  };
  const worker = await startProcess('worker', environment);
  await worker.logged('worker.started');
  return worker;
}

test('a run whose console has ended and whose worker is killed with SIGKILL is finished by the next worker', async () => {
  const task_ids = await refusedReports(world, TASKS);
  const who = await person(world, 'dispatcher');
  const console = await openFoundation({ config: world.foundation.config, log: silentLog });
  const started = runsOf(console);
  const { id } = await previewed(started, { action: 'waive', task_ids, reason: 'gone' }, who);
  await started.start(id, who);
  await console.resources.closeAll();

  const runs = world.console();
  const killed = await startWorker();
  await eventually(async () => expect((await runs.read(id))?.counts.done).toBeGreaterThan(20));
  killed.kill('SIGKILL');
  await killed.exited;
  const left = (await runs.read(id))?.counts.waiting ?? 0;
  expect(left).toBeGreaterThan(0);

  await startWorker();
  // The job of the killed worker ends when BullMQ finds it stalled, after the 20 s of its lock.
  const run = await runIn(runs, id, 'done');
  expect(outcomes(run)).toEqual(task_ids.map(() => 'done'));
  expect(await timesDecided(world, task_ids, 'report.waived')).toEqual(task_ids.map(() => 1));
});
