import { setTimeout as pause } from 'node:timers/promises';
import { KEYS } from '../../src/store/keys';
import type { Lane } from './lane';
import { createLife, type Life } from './mortal-worker';

/** Whose turn ends when, seen from the due marks alone: whatever has none is never looked at again. */

const LOOK_EVERY_MS = 25;
const TAKE_MAX = 50;
/** What a worker took and did not settle is due again after this. */
const FORWARD_MS = 100;
/** A due mark further ahead than this waits for something that does not come by itself, such as a tow request. */
const FAR_AHEAD_MS = 60_000;
const SETTLE_LIMIT_MS = 20_000;

/** Works off what is due as a worker and its pump do, until nothing is due any more. */
export async function drain({ lane, ref }: { lane: Lane; ref: string }, life: Life = createLife(null)): Promise<void> {
  const untilMs = performance.now() + SETTLE_LIMIT_MS;
  while (!(await isSettled(lane, ref))) {
    if (performance.now() > untilMs) throw new Error(`${ref} did not come to rest`);
    await takeTurn(lane, life);
    await pause(LOOK_EVERY_MS);
  }
}

async function takeTurn({ stores, ...lane }: Lane, life: Life): Promise<void> {
  for (const id of await stores.due.deliveries.take(TAKE_MAX, FORWARD_MS)) await lane.processDelivery(id, life);
  for (const ref of await stores.due.tows.take(TAKE_MAX, FORWARD_MS)) await lane.sendReports(ref, life);
}

async function isSettled({ stores, service }: Lane, ref: string): Promise<boolean> {
  const isAtRest = async () => {
    const soon = Date.now() + FAR_AHEAD_MS;
    const due = [KEYS.dueTows, KEYS.dueDeliveries].map((key) => stores.redis.zcount(key, '-inf', soon));
    return (await Promise.all(due)).every((count) => count === 0);
  };
  // What comes in between two looks is seen by the last one.
  return (await isAtRest()) && !(await isWebhookOnItsWay(service, ref)) && (await isAtRest());
}

/** The service posts an invoice a moment after its create; until it gave up or was answered, all is not over. */
async function isWebhookOnItsWay(service: Lane['service'], ref: string): Promise<boolean> {
  const calls = await service.calls(ref);
  const created = calls.filter(({ operation, effect }) => operation === 'invoice' && effect).length;
  const attempts = (await service.webhooks()).filter(({ towing_reference_id: of }) => of === ref);
  const posted = new Set(
    attempts.filter(({ fault, status }) => fault === 'drop' || status === 200).map((one) => one.webhook_id),
  );
  return posted.size < created;
}
