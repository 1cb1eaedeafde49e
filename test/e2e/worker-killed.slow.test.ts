import { playTows } from '../../src/demo/play';
import { eventually } from '../support/eventually';
import type { RoleProcess } from '../support/role-process';
import { useRedis } from '../support/redis';
import { buildTown } from '../support/town';
import { callsAt, reportFaults, setFaults } from './simulator-control';

jest.setTimeout(240_000);
const redis = useRedis();

const CONCURRENCY = 20;

const attemptsOf = (worker: RoleProcess) => worker.log.filter(({ message }) => message === 'report.attempted').length;

test('when a worker is killed with SIGKILL during calls of 100 tows, the next worker finishes every tow in order', async () => {
  const town = await buildTown(redis.url);
  const [killed, console] = await Promise.all([
    // No call passes its time limit before the worker is killed, so that no open circuit holds back the others.
    town.start('worker', { WORKER_CONCURRENCY: String(CONCURRENCY), SERVICE_TIMEOUT_MS: '14000' }),
    town.start('console'),
    town.start('receiver'),
  ]);

  const slowCalls = reportFaults({ fault: 'latency', ms: 30 });
  const options = { tows: 100, faults: slowCalls, paceMs: 10, timeLimitMs: 200_000 };
  const playing = playTows(await town.addressesOf(console), options);
  // A failure below ends the test before this promise is awaited.
  playing.catch(() => {});
  await eventually(() => expect(attemptsOf(killed)).toBeGreaterThan(20), 120_000);
  // From here on calls take effect and get no answer: the worker has as many under way as it may, and sends no more.
  await setFaults(town, reportFaults({ fault: 'late', ms: 200_000 }));
  await eventually(async () => {
    const unanswered = (await callsAt(town)).filter(({ fault, effect }) => fault === 'late' && effect);
    // More when a call passes its time limit before the worker is killed, as on a busy machine.
    expect(unanswered.length).toBeGreaterThanOrEqual(CONCURRENCY);
  }, 120_000);
  killed.kill('SIGKILL');
  await killed.exited;
  await setFaults(town, slowCalls);
  const next = await town.start('worker');
  const { findings, finished } = await playing;

  expect(finished).toBe(100);
  expect(findings).toMatchObject({ lost: 0, outOfOrder: 0, wrongBodies: 0, secondInvoices: 0, problems: [] });
  expect(attemptsOf(next)).toBeGreaterThan(20);
});
