import { createOperatorClient } from '../../src/demo/client';
import { keepTowsComing, playTows } from '../../src/demo/play';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { API_KEY, buildTown } from '../support/town';
import { callsAt, requestTow, setFaults } from './simulator-control';

jest.setTimeout(240_000);
const redis = useRedis();

test('one process of the role all sends every report of 12 tows in order with the bodies as entered and exits with 0', async () => {
  const town = await buildTown(redis.url);
  const all = await town.start('all');

  const options = { tows: 12, faults: [], paceMs: 5, timeLimitMs: 240_000 };
  const { findings, finished } = await playTows(await town.addressesOf(all), options);

  expect(finished).toBe(12);
  expect(findings).toMatchObject({ lost: 0, outOfOrder: 0, wrongBodies: 0, secondInvoices: 0, reportsArrived: 46 });
  const calls = await callsAt(town);
  expect(calls.filter(({ operation }) => operation === 'token')).toHaveLength(1);
  expect(calls.every(({ path }) => String(path).startsWith('/some/prefix/'))).toBe(true);

  all.kill('SIGTERM');
  expect(await all.exited).toBe(0);
});

test('after its check the demo leaves tows open on the board, and more come until it ends', async () => {
  const town = await buildTown(redis.url);
  const { consoleUrl } = await town.startInProcess();
  const ending = new AbortController();
  const addresses = { consoleUrl, simulatorUrl: town.simulator.url, apiKey: API_KEY };
  const coming = keepTowsComing(addresses, { signal: ending.signal, everyMs: 100, paceMs: 5 });
  const headers = { authorization: `Bearer ${API_KEY}` };
  const statesOf = async () => {
    const text = await (await fetch(`${consoleUrl}/api/tows`, { headers })).text();
    return [...text.matchAll(/"state":"(requested|started|detained)"/g)].map(([, state]) => state);
  };
  await eventually(async () => {
    const states = await statesOf();
    expect(new Set(states)).toEqual(new Set(['requested', 'started', 'detained']));
  });
  await eventually(async () =>
    expect(await callsAt(town)).toContainEqual(expect.objectContaining({ operation: 'released' })),
  );
  ending.abort();
  await coming;
});

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
