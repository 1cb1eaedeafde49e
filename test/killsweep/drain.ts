import type { JsonObject } from '../../src/domain/vocabulary';
import { pause } from '../../src/platform/timers';
import { eventually } from '../support/eventually';
import type { TestBed } from './test-bed';
import type { Stage } from './scenario';
import { nextDueMs, passTime } from './stored';
import type { Worker } from './worker';

const CHECK_EVERY_MS = 20;
/** Ends a run that hangs. */
const SETTLE_LIMIT_MS = 120_000;
/** A longer wait may be one that a lost worker has left behind. */
const SHORT_WAIT_MS = 500;

/** Does all scheduled work with one worker, until nothing is scheduled soon. Returns the records whose lease had to end. */
export async function drain({ testBed }: Pick<Stage, 'testBed'>, worker: Worker): Promise<string[]> {
  const untilMs = performance.now() + SETTLE_LIMIT_MS;
  const leases: string[] = [];
  for (;;) {
    if (performance.now() > untilMs) throw new Error('the work did not settle');
    // A Redis that was killed is back in a moment.
    const { nowMs, dueMs } = await eventually(() => nextDueMs(testBed.stores.redis));
    if (dueMs === null) {
      if (await isOver(testBed)) return leases;
      await pause(CHECK_EVERY_MS);
    } else if (dueMs <= nowMs) await worker.work();
    else if (dueMs - nowMs < SHORT_WAIT_MS) await pause(Math.min(CHECK_EVERY_MS, dueMs - nowMs));
    else {
      const { hasPassed, leasesEnded } = await eventually(() => passTime(testBed.stores.redis, nowMs));
      leases.push(...leasesEnded);
      if (!hasPassed) await pause(CHECK_EVERY_MS);
    }
  }
}

/** A webhook that arrives between the first check and the second one creates work that the third one finds. */
async function isOver(testBed: TestBed): Promise<boolean> {
  return !(await isWebhookPending(testBed)) && (await eventually(() => nextDueMs(testBed.stores.redis))).dueMs === null;
}

/** True while a webhook of the service is neither dropped nor accepted; it follows its cause by 20 ms. */
async function isWebhookPending(testBed: TestBed): Promise<boolean> {
  const { calls, webhooks } = await testBed.seen();
  const causes = calls.filter(({ effect, operation, body }) => effect && causesWebhook(operation, body));
  const over = webhooks.filter(({ fault, status }) => fault === 'drop' || status === 200);
  return new Set(over.map(({ webhook_id: id }) => id)).size < causes.length;
}

/** An invoice is followed by its webhook, a violation whose vehicle can be towed by a tow request. */
function causesWebhook(operation: string, body: JsonObject | null): boolean {
  return operation === 'invoice' || (operation.startsWith('violation') && body?.['violationType'] === 'WRONG_PARKING');
}
