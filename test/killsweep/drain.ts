import { setTimeout as pause } from 'node:timers/promises';
import { KEYS } from '../../src/store/keys';
import type { Lane } from './lane';
import { createWorker, type InterruptibleWorker } from './interruptible-worker';

const CHECK_EVERY_MS = 25;
const TAKE_MAX = 50;
/** Work that was taken from the schedule and not finished is due again after this time. */
const RETAKE_AFTER_MS = 100;
/** Work scheduled later than this waits for an event that the scenario does not produce, such as a tow request. */
const FAR_AHEAD_MS = 60_000;
/** Ends a run that hangs. */
const SETTLE_LIMIT_MS = 120_000;

/** Does all scheduled work as a worker and its scheduler do, until nothing is scheduled soon. */
export async function drain(
  { lane, ref }: { lane: Lane; ref: string },
  worker: InterruptibleWorker = createWorker(null),
): Promise<void> {
  const untilMs = performance.now() + SETTLE_LIMIT_MS;
  while (!(await isSettled(lane, ref))) {
    if (performance.now() > untilMs) throw new Error(`${ref} did not settle`);
    await doDueWork(lane, worker);
    await pause(CHECK_EVERY_MS);
  }
}

async function doDueWork({ stores, ...lane }: Lane, worker: InterruptibleWorker): Promise<void> {
  for (const id of await stores.due.deliveries.take(TAKE_MAX, RETAKE_AFTER_MS)) await lane.processDelivery(id, worker);
  for (const ref of await stores.due.tows.take(TAKE_MAX, RETAKE_AFTER_MS)) await lane.sendReports(ref, worker);
}

async function isSettled({ stores, service }: Lane, ref: string): Promise<boolean> {
  const hasNoDueWork = async () => {
    const soon = Date.now() + FAR_AHEAD_MS;
    const due = [KEYS.dueTows, KEYS.dueDeliveries].map((key) => stores.redis.zcount(key, '-inf', soon));
    return (await Promise.all(due)).every((count) => count === 0);
  };
  // A webhook that arrives between the first two checks creates work that the third one finds.
  return (await hasNoDueWork()) && !(await isWebhookPending(service, ref)) && (await hasNoDueWork());
}

/** True while an invoice webhook of the service is neither dropped nor answered; it follows the create by 20 ms. */
async function isWebhookPending(service: Lane['service'], ref: string): Promise<boolean> {
  const calls = await service.calls(ref);
  const created = calls.filter(({ operation, effect }) => operation === 'invoice' && effect).length;
  const attempts = (await service.webhooks()).filter(({ towing_reference_id: of }) => of === ref);
  const posted = new Set(
    attempts.filter(({ fault, status }) => fault === 'drop' || status === 200).map((one) => one.webhook_id),
  );
  return posted.size < created;
}
