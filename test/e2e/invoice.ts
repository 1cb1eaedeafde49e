import { createOperatorClient } from '../../src/demo/client';
import { eventually } from '../support/eventually';
import { API_KEY, type Town } from '../support/town';
import { requestTow } from './simulator-control';

/** Has the service request a tow, and enters that it started and that its invoice is wanted. */
export async function requestInvoice(town: Town, consoleUrl: string) {
  const client = createOperatorClient(consoleUrl, API_KEY);
  const ref = await requestTow(town);
  await eventually(async () => expect(await client.tow(ref)).not.toBeNull());
  const place = { towed_location: 'Olaya Street', latitude: 24.7, longitude: 46.7 };
  await client.recordFact(ref, 'started', { plate_number: 'ABC 1', ...place });
  await client.recordFact(ref, 'invoice', { vehicle_type: 'HEAVY' });
  return { client, ref };
}
