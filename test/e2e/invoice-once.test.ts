import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { buildTown } from '../support/town';
import { requestInvoice } from './invoice';
import { callsOf, setFaults } from './simulator-control';

jest.setTimeout(240_000);
const redis = useRedis();

test('an invoice whose answer is lost is proved by its webhook and causes no second request', async () => {
  const town = await buildTown(redis.url);
  const app = await town.startInProcess();
  await setFaults(town, [{ operation: 'invoice', fault: 'lost_answer', times: 1 }]);

  const { client, ref } = await requestInvoice(town, app.consoleUrl);
  const tow = await eventually(async () => {
    const found = await client.tow(ref);
    expect(found?.reports[1]?.state).toBe('accepted');
    return found;
  });

  expect(await callsOf(town, 'invoice')).toMatchObject([{ effect: true, status: null }]);
  expect(tow?.timeline).toContainEqual(
    expect.objectContaining({ type: 'report.accepted', report_id: 'invoice-2', how: 'proved_by_webhook' }),
  );
});
