import { createOperatorClient } from '../../src/demo/client';
import { KEYS } from '../../src/store/keys';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { API_KEY, buildTown } from '../support/town';
import { callsOf, requestTow } from './simulator-control';

jest.setTimeout(120_000);
const redis = useRedis();

const PLACE = { plate_number: 'ABC 1', towed_location: 'Olaya Street', latitude: 24.7, longitude: 46.7 };

test('a tow that was taken from the list while the queue was paused is sent by its schedule after the pause', async () => {
  const town = await buildTown(redis.url);
  const app = await town.startInProcess();
  const client = createOperatorClient(app.consoleUrl, API_KEY);
  const ref = await requestTow(town);
  await eventually(async () => expect(await client.tow(ref)).not.toBeNull());
  const { reports } = app.foundation.queues.byName;
  await reports.pause();

  await client.recordFact(ref, 'started', PLACE);
  await eventually(async () => expect(await redis.ask('EXISTS', KEYS.immediateTows)).toBe(0));
  expect(await callsOf(town, 'started')).toEqual([]);
  await reports.resume();

  await eventually(async () => expect(await callsOf(town, 'started')).toHaveLength(1));
});

test('a delivery that was taken from the list while the queue was paused is processed by its schedule after the pause', async () => {
  const town = await buildTown(redis.url);
  const app = await town.startInProcess();
  const client = createOperatorClient(app.consoleUrl, API_KEY);
  const { deliveries } = app.foundation.queues.byName;
  await deliveries.pause();

  const ref = await requestTow(town);
  await eventually(async () => expect(await redis.ask('ZCARD', KEYS.dueDeliveries)).toBe(1));
  await eventually(async () => expect(await redis.ask('EXISTS', KEYS.immediateDeliveries)).toBe(0));
  expect(await client.tow(ref)).toBeNull();
  await deliveries.resume();

  await eventually(async () => expect(await client.tow(ref)).not.toBeNull());
});
