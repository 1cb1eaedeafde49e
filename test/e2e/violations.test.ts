import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { callsOf, FORM, openPatrol, order, picture, sha256, simulate, takenReference } from './patrol';

jest.setTimeout(90_000);
const redis = useRedis();

/** Longer than a lost claim takes to run out. */
const CLAIM_LOST_MS = 40_000;

test('a violation reaches the service byte for byte, and its tow starts with what it says', async () => {
  const { town, report, violation, tow, post } = await openPatrol(redis.url);
  const images = [picture(20_000), picture(300_000), picture(1)];

  const { id } = await report(FORM, images);
  const accepted = await eventually(async () => {
    const found = await violation(id);
    expect(found.state).toBe('accepted');
    return found;
  });
  expect(await violation('case-77')).toMatchObject({ id, metadata_id: 'case-77', service_status: 'PENDING' });
  const [call, ...others] = await callsOf(town, 'violation');
  expect(others).toEqual([]);
  expect(call?.body).toEqual({
    ...FORM,
    images: images.map((bytes, index) => ({
      name: `صورة ${index + 1}.png`,
      size: bytes.length,
      sha256: sha256(bytes),
    })),
  });

  const ref = await order(town, accepted.violation_reference_id ?? '');
  const whereabouts = {
    plate_number: 'ABJ 1235',
    towed_location: FORM.location,
    latitude: 24.7136,
    longitude: 46.6753,
  };
  await eventually(async () =>
    expect(await tow(ref)).toMatchObject({
      ...whereabouts,
      zone_id: FORM.zoneId,
      violation_type: 'OBS_CLS_PARKING',
      violation_id: id,
    }),
  );
  expect((await post(`/tows/${ref}/started`)).status).toBe(202);
  await eventually(async () => expect((await callsOf(town, 'started'))[0]?.body).toMatchObject(whereabouts));
  await eventually(async () => expect((await violation(id)).towing_reference_ids).toEqual([ref]));
});

test('a violation whose answer was lost is sent once and proved by its tow request', async () => {
  const { town, report, violation, tasks } = await openPatrol(redis.url);
  await simulate(town, 'PUT', 'faults', [{ operation: 'violation', fault: 'lost_answer', times: 1 }]);

  const { id } = await report(FORM, [picture(5000)]);
  await eventually(async () => expect((await violation(id)).state).toBe('unknown'));
  const reference = await takenReference(town);
  await order(town, reference);

  await eventually(async () =>
    expect(await violation(id)).toMatchObject({
      state: 'accepted',
      accepted_how: 'proved_by_tow_request',
      violation_reference_id: reference,
    }),
  );
  expect(await callsOf(town, 'violation')).toHaveLength(1);
  expect(await tasks()).toEqual([]);
});

test('unproved for too long, a violation whose answer was lost becomes a task that proof closes again', async () => {
  const { town, report, violation, tasks } = await openPatrol(redis.url, {
    environment: { VIOLATION_PROOF_HOURS: '0.0002' },
  });
  await simulate(town, 'PUT', 'faults', [{ operation: 'violation', fault: 'lost_answer', times: 1 }]);

  const { id } = await report(FORM);
  await eventually(async () => expect(await tasks()).toMatchObject([{ type: 'violation_unknown', violation: { id } }]));
  await order(town, await takenReference(town));

  await eventually(async () => expect(await tasks()).toEqual([]));
  expect(await violation(id)).toMatchObject({ state: 'accepted' });
  expect(await callsOf(town, 'violation')).toHaveLength(1);
});

test('by the guide form four fields are sent, its answer is kept, and a lost answer is a task at once', async () => {
  const { town, report, violation, tasks, post } = await openPatrol(redis.url, {
    environment: { VIOLATION_API: 'guide' },
  });

  const first = await report(FORM, [picture(1000)]);
  await eventually(async () => expect(await violation(first.id)).toMatchObject({ state: 'accepted', can_tow: true }));
  const { plateNumber, plateType, zoneId, violationType } = FORM;
  const [call] = await callsOf(town, 'violation_guide');
  expect(call?.body).toEqual({ plateNumber, plateType, zoneId, violationType, images: [] });

  await simulate(town, 'PUT', 'faults', [{ operation: 'violation_guide', fault: 'lost_answer', times: 1 }]);
  const second = await report({ ...FORM, metadata: '{}' });
  await eventually(async () => expect(await tasks()).toMatchObject([{ type: 'violation_unknown' }]));
  const seen = { reason: 'seen at the service', violation_reference_id: 'V-20261120-ABCDEF' };
  expect((await post(`/violations/${second.id}/accept`, seen)).status).toBe(202);
  expect(await violation(second.id)).toMatchObject({
    state: 'accepted',
    accepted_how: 'by_hand',
    violation_reference_id: 'V-20261120-ABCDEF',
  });
  expect(await tasks()).toEqual([]);
  expect(await callsOf(town, 'violation_guide')).toHaveLength(2);
});

test('an active ticket holds a fine for a person, who may send it all the same', async () => {
  const { town, report, violation, tasks, post } = await openPatrol(redis.url, {
    environment: { VIOLATION_TICKET_CHECK: 'true' },
  });
  const fine = { ...FORM, violationType: 'NO_TICKET', metadata: '{}' };

  // The simulator gives plates whose last digit is even an active ticket.
  const parked = await report({ ...fine, plateNumber: 'ABJ 1234' });
  const free = await report({ ...fine, plateNumber: 'ABJ 1235' });
  await eventually(async () => expect((await violation(free.id)).state).toBe('accepted'));
  await eventually(async () => expect((await violation(parked.id)).state).toBe('held'));
  expect(await tasks()).toMatchObject([{ type: 'active_ticket', actions: ['retry', 'correct', 'waive'] }]);
  expect(await callsOf(town, 'violation')).toHaveLength(1);

  expect((await post(`/violations/${parked.id}/retry`)).status).toBe(202);
  await eventually(async () => expect((await violation(parked.id)).state).toBe('accepted'));
  expect(await callsOf(town, 'ticket')).toHaveLength(2);
  expect(await tasks()).toEqual([]);
});

test('a refused violation is corrected by a person and sent again', async () => {
  const { town, report, violation, tasks, post } = await openPatrol(redis.url);

  const { id } = await report({ ...FORM, zoneId: '00000000-0000-0000-0000-000000000000' }, [picture(10)]);
  await eventually(async () =>
    expect(await tasks()).toMatchObject([
      { type: 'violation_refused', violation: { id, last_error: { http_status: 400, message: 'Zone not found' } } },
    ]),
  );
  expect((await post(`/violations/${id}/correct`, { zoneId: FORM.zoneId })).status).toBe(202);
  await eventually(async () => expect((await violation(id)).state).toBe('accepted'));
  expect((await callsOf(town, 'violation')).map(({ status }) => status)).toEqual([400, 200]);
  expect(await tasks()).toEqual([]);
});

test('a worker killed with -9 between the call and its ack leads to no second violation', async () => {
  const { town, worker, report, violation } = await openPatrol(redis.url);
  await simulate(town, 'PUT', 'faults', [{ operation: 'violation', fault: 'late', times: 1, ms: 8000 }]);

  const { id } = await report(FORM, [picture(2000)]);
  // A call is listed when it arrives; cut off before its last byte it would have made nothing.
  await eventually(async () => expect(await callsOf(town, 'violation')).toMatchObject([{ effect: true }]));
  worker?.kill('SIGKILL');
  await worker?.exited;
  await town.start('worker');
  await eventually(async () => expect((await violation(id)).state).toBe('unknown'), CLAIM_LOST_MS);
  await order(town, await takenReference(town));

  await eventually(async () => expect((await violation(id)).state).toBe('accepted'));
  expect(await callsOf(town, 'violation')).toHaveLength(1);
});

test.each(['reference', 'guide'])(
  'a tow request that overtakes the answer to its violation (%s) is joined to it, and the answer is kept',
  async (api) => {
    const { town, report, violation, tow, tasks } = await openPatrol(redis.url, {
      environment: { VIOLATION_API: api },
    });
    const operation = api === 'guide' ? 'violation_guide' : 'violation';
    await simulate(town, 'PUT', 'faults', [{ operation, fault: 'late', times: 1, ms: 3000 }]);

    const { id } = await report(FORM);
    await eventually(async () => expect(await callsOf(town, operation)).toMatchObject([{ effect: true }]));
    const ref = await order(town, await takenReference(town));
    await eventually(async () => expect((await tow(ref)).state).toBe('requested'));

    await eventually(async () => expect(await violation(id)).toMatchObject({ state: 'accepted', in_flight: false }));
    await eventually(async () => expect(await tow(ref)).toMatchObject({ violation_id: id, plate_number: 'ABJ 1235' }));
    await eventually(async () => expect((await violation(id)).towing_reference_ids).toEqual([ref]));
    expect(await callsOf(town, operation)).toHaveLength(1);
    expect(await violation(id)).toMatchObject(
      api === 'guide' ? { can_tow: true } : { service_status: 'PENDING', accepted_how: 'proved_by_tow_request' },
    );
    expect(await tasks()).toEqual([]);
  },
);
