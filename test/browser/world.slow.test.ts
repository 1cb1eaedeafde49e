import { useConsole } from './world';

const world = useConsole();

test('a tow in the browser tests goes from order to release against the simulated service', async () => {
  const ref = await world.orderTow({ plate_number: 'XYZ 4321' });
  await world.record(ref, 'started');
  await world.record(ref, 'detained');
  await world.record(ref, 'invoice', { vehicle_type: 'HEAVY' });
  await world.record(ref, 'payment');
  await world.record(ref, 'released');
  const tow = await world.towWhen(ref, ({ reports }) => reports.every(({ state }) => state === 'accepted'));
  expect(tow.state).toBe('released');
  expect(await world.callsOf('released')).toHaveLength(1);
});

test('a report that the service refuses opens a task with the message of the service and can be retried', async () => {
  const ref = await world.orderTow();
  await world.refuseOnce('started');
  await world.record(ref, 'started');
  const tow = await world.towWhen(ref, ({ tasks }) => tasks.length > 0);
  expect(tow.reports[0]).toMatchObject({
    state: 'refused',
    last_error: { http_status: 400, message: 'Missing required field' },
  });
  expect(await world.tasks()).toHaveLength(1);

  await world.record(ref, `reports/${tow.reports[0]?.id}/retry`);
  await world.towWhen(ref, ({ reports }) => reports[0]?.state === 'accepted');
});

test('each role in the browser tests has its own API key and sees no data of another test', async () => {
  const keys = await Promise.all((['viewer', 'crew', 'dispatcher', 'ops'] as const).map((role) => world.keyOf(role)));
  expect(new Set(keys).size).toBe(4);
  expect(await world.keyOf('crew')).toBe(keys[1]);
  expect(await world.tasks()).toEqual([]);
  expect(await world.callsOf('started')).toEqual([]);
});

test('the browser tests can order twenty tows at once', async () => {
  expect(new Set(await world.orderTows(20)).size).toBe(20);
});
