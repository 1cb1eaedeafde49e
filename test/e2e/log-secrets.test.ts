import { createOperatorClient } from '../../src/demo/client';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { API_KEY, buildTown } from '../support/town';
import { requestTow, setFaults } from './simulator-control';

jest.setTimeout(240_000);
const redis = useRedis();

test('the log contains no plate, place, secret or token, even when the service quotes a plate', async () => {
  const town = await buildTown(redis.url);
  const all = await town.start('all', { LOG_LEVEL: 'debug' });
  const client = createOperatorClient(await all.url('console'), API_KEY);
  await setFaults(town, [{ operation: 'started', fault: '400', message: 'Plate ZZZ 77 is unknown' }]);
  const ref = await requestTow(town);
  await eventually(async () => expect(await client.tow(ref)).not.toBeNull());

  const place = { towed_location: 'Hidden Street', latitude: 24.111111, longitude: 46.222222 };
  await client.recordFact(ref, 'started', { plate_number: 'ZZZ 77', ...place });
  const refused = await eventually(async () => {
    const tow = await client.tow(ref);
    expect(tow?.reports[0]?.state).toBe('refused');
    return tow;
  });
  expect(refused?.tasks[0]?.message).toContain('Plate ZZZ 77 is unknown');
  await all.logged('report.attempted');
  const text = JSON.stringify(all.log);
  for (const secret of ['ZZZ 77', 'Hidden', '24.1111', API_KEY, 'e2e-client-secret', 'Bearer ']) {
    expect(text).not.toContain(secret);
  }
});
