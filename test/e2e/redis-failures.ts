import { playThroughRedisFailure } from './persistent-crew';
import { eventually } from '../support/eventually';
import type { RoleProcess } from '../support/role-process';
import { buildTown } from '../support/town';
import { callsAt } from './simulator-control';

const TOWS = 24;
/** The service repeats its webhooks each second, so that the webhook that proves an invoice arrives within the grace. */
const WEBHOOK_RETRIES = { retryDelaysMs: Array.from({ length: 200 }, () => 1000) };
/** So few jobs at a time that one worker cannot take the jobs of all tows. */
const FEW_AT_A_TIME = { WORKER_CONCURRENCY: '4' };

/** Fails unless the worker is ready within a generous limit. */
export function expectReady(worker: RoleProcess): Promise<void> {
  return eventually(async () => expect((await readyz(worker)).httpStatus).toBe(200), 60_000);
}

/** Fails unless the worker reports this state of Redis as the reason for not being ready. */
export function expectNotReady(worker: RoleProcess, redisState: string): Promise<void> {
  return eventually(async () => {
    const { httpStatus, text } = await readyz(worker);
    expect([httpStatus, text]).toEqual([503, expect.stringContaining(redisState)]);
  });
}

async function readyz(worker: RoleProcess): Promise<{ httpStatus: number; text: string }> {
  const response = await fetch(`${await worker.url('ops')}/readyz`);
  return { httpStatus: response.status, text: await response.text() };
}

/** Two processes with workers, and a crew that plays 24 tows through the failures of a Redis. */
export async function startTowsOfTwoWorkers(redisUrl: string) {
  const town = await buildTown(redisUrl, WEBHOOK_RETRIES);
  const workers = await Promise.all([town.start('all', FEW_AT_A_TIME), town.start('worker', FEW_AT_A_TIME)]);
  const [all] = workers;
  const playing = playThroughRedisFailure(await town.addressesOf(all), { tows: TOWS, timeLimitMs: 200_000 });
  return {
    tows: TOWS,
    workers,
    untilCalls: (count: number) =>
      eventually(async () => expect((await callsAt(town)).length).toBeGreaterThan(count), 120_000),
    /** Expects that both workers are ready again, that each has sent reports, and that every report has arrived. */
    expectRecovery: async () => {
      for (const worker of workers) await expectReady(worker);
      const { findings, finished } = await playing;
      expect(finished).toBe(TOWS);
      expect(findings).toMatchObject({ lost: 0, outOfOrder: 0, wrongBodies: 0, secondInvoices: 0, problems: [] });
      for (const worker of workers) {
        const events = worker.log.map(({ message }) => message);
        expect(events).toContain('report.attempted');
        expect(events).not.toContain('worker.stalled');
        worker.kill('SIGTERM');
        expect(await worker.exited).toBe(0);
      }
    },
  };
}
