import { assign, requestAgo } from '../test/store/tow-lists';
import { INVOICE, openStores, START, type Stores } from '../test/support/stores';

/** How many tows are written at the same time. */
const LANES = 50;
const CREWS = 40;
const REQUESTED_WITHIN_MINUTES = 600;

/** Puts so many open tows into a Redis: a third requested, a third started, a third detained; two in three have a crew. */
export async function fillBoard(redisUrl: string, tows: number): Promise<void> {
  const stores = await openStores(redisUrl);
  try {
    for (let from = 0; from < tows; from += LANES) {
      const numbers = Array.from({ length: Math.min(LANES, tows - from) }, (_, lane) => from + lane);
      await Promise.all(numbers.map((number) => addTow(stores, number)));
    }
  } finally {
    stores.close();
  }
}

async function addTow(stores: Stores, number: number): Promise<void> {
  const ref = refOf(number);
  await requestAgo(stores, ref, number % REQUESTED_WITHIN_MINUTES);
  if (number % 3 > 0) {
    await assign(stores, ref, `Crew ${number % CREWS}`);
    await stores.say(ref, { ...START, plateNumber: `ABJ ${number % 10_000}` });
  }
  if (number % 3 > 1) {
    await stores.say(ref, { event: 'detained' });
    await stores.say(ref, INVOICE);
  }
}

export function refOf(number: number): string {
  return `TW-20261120-${String(number).padStart(6, '0')}`;
}
