import { createOperatorClient } from '../src/main/demo/client';
import { simulatorOrders } from '../src/contracts/simulator';
import { eventually } from '../test/support/eventually';
import { post, type Town } from './town';

const FACTS = [
  ['started', { plate_number: 'BNC 1', towed_location: 'Olaya Street', latitude: 24.7, longitude: 46.7 }],
  ['detained', {}],
  ['invoice', { vehicle_type: 'HEAVY' }],
  ['payment', {}],
  ['released', {}],
] as const;

/** Orders tows and says all that happens to each, with no worker there to report it: five reports a tow are owed then. */
export async function oweReports(town: Town, tows: number): Promise<void> {
  await town.startWorkers(1);
  const order = await post(`${town.simulatorUrl}/simulator/tow-requests`, { count: tows });
  const refs = simulatorOrders.parse(order).items.map(({ towing_reference_id: ref }) => ref);
  const client = createOperatorClient(town.consoleUrl, town.apiKey);
  for (const ref of refs) {
    await eventually(async () => {
      if ((await client.tow(ref)) === null) throw new Error('the tow is not known yet');
    }, 30_000);
  }
  await town.stopWorkers();
  for (const ref of refs) {
    for (const [kind, said] of FACTS) await post(`${town.consoleUrl}/api/tows/${ref}/${kind}`, said, town.apiKey);
  }
}
