import { eventually } from '../support/eventually';
import { holdAnswers } from '../support/proxy';
import { useRedis } from '../support/redis';
import { buildTown } from '../support/town';
import { createPatrol, FORM, picture, sha256 } from './patrol';
import { acceptedReference, callsOf, requestTow, setFaults } from './simulator-control';

jest.setTimeout(240_000);
const redis = useRedis();

/** A simulator, and receiver, console and worker in this process. */
async function openTown(environment: Readonly<Record<string, string>> = {}) {
  const town = await buildTown(redis.url);
  const app = await town.startInProcess(environment);
  return { town, ...createPatrol(app.consoleUrl) };
}

test('a violation reaches the service byte for byte, and its plate and place are sent when its tow starts', async () => {
  const { town, report, violation, tow, post } = await openTown();
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
      field: 'images',
      name: `صورة ${index + 1}.png`,
      size: bytes.length,
      sha256: sha256(bytes),
    })),
  });

  const ref = await requestTow(town, { violation_reference_id: accepted.violation_reference_id });
  const plateAndPlace = {
    plate_number: 'ABJ 1235',
    towed_location: FORM.location,
    latitude: 24.7136,
    longitude: 46.6753,
  };
  await eventually(async () =>
    expect(await tow(ref)).toMatchObject({
      ...plateAndPlace,
      zone_id: FORM.zoneId,
      violation_type: 'OBS_CLS_PARKING',
      violation_id: id,
    }),
  );
  expect((await post(`/tows/${ref}/started`)).status).toBe(202);
  await eventually(async () => expect((await callsOf(town, 'started'))[0]?.body).toMatchObject(plateAndPlace));
  await eventually(async () => expect((await violation(id)).towing_reference_ids).toEqual([ref]));
});

test('a violation whose answer is lost is sent once and accepted when its tow request arrives', async () => {
  const { town, report, violation, tasks } = await openTown();
  await setFaults(town, [{ operation: 'violation', fault: 'lost_answer', times: 1 }]);

  const { id } = await report(FORM, [picture(5000)]);
  await eventually(async () => expect((await violation(id)).state).toBe('unknown'));
  const reference = await acceptedReference(town);
  await requestTow(town, { violation_reference_id: reference });

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

test('a violation whose answer is lost becomes a task when its tow request takes too long, and the tow request closes the task', async () => {
  const { town, report, violation, tasks } = await openTown({ VIOLATION_PROOF_HOURS: '0.0002' });
  await setFaults(town, [{ operation: 'violation', fault: 'lost_answer', times: 1 }]);

  const { id } = await report(FORM);
  await eventually(async () => expect(await tasks()).toMatchObject([{ type: 'violation_unknown', violation: { id } }]));
  await requestTow(town, { violation_reference_id: await acceptedReference(town) });

  await eventually(async () => expect(await tasks()).toEqual([]));
  expect(await violation(id)).toMatchObject({ state: 'accepted' });
  expect(await callsOf(town, 'violation')).toHaveLength(1);
});

test('the guide API receives four fields, its answer is stored, and a lost answer opens a task at once', async () => {
  const { town, report, violation, tasks, post } = await openTown({ VIOLATION_API: 'guide' });

  const first = await report(FORM, [picture(1000)]);
  await eventually(async () => expect(await violation(first.id)).toMatchObject({ state: 'accepted', can_tow: true }));
  const { plateNumber, plateType, zoneId, violationType } = FORM;
  const [call] = await callsOf(town, 'violation_guide');
  expect(call?.body).toEqual({ plateNumber, plateType, zoneId, violationType, images: [] });

  await setFaults(town, [{ operation: 'violation_guide', fault: 'lost_answer', times: 1 }]);
  const second = await report({ ...FORM, metadata: '{}' });
  await eventually(async () => expect(await tasks()).toMatchObject([{ type: 'violation_unknown' }]));
  const decision = { reason: 'seen at the service', violation_reference_id: 'V-20261120-ABCDEF' };
  expect((await post(`/violations/${second.id}/accept`, decision)).status).toBe(202);
  expect(await violation(second.id)).toMatchObject({
    state: 'accepted',
    accepted_how: 'by_hand',
    violation_reference_id: 'V-20261120-ABCDEF',
  });
  expect(await tasks()).toEqual([]);
  expect(await callsOf(town, 'violation_guide')).toHaveLength(2);
});

test('a fine for a vehicle with an active ticket waits for a person, who can send it anyway', async () => {
  const { town, report, violation, tasks, post } = await openTown({ VIOLATION_TICKET_CHECK: 'true' });
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

test('a refused violation can be corrected by a person and is then sent again', async () => {
  const { town, report, violation, tasks, post } = await openTown();

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

test.each([
  ['reference', 'violation', { service_status: 'PENDING', accepted_how: 'proved_by_tow_request' }],
  ['guide', 'violation_guide', { can_tow: true }],
] as const)(
  'a tow request that arrives before the answer to its violation is joined to it and the answer is stored (%s API)',
  async (api, operation, stored) => {
    const town = await buildTown(redis.url);
    const answers = await holdAnswers(town.simulator.url, operation);
    const app = await town.startInProcess({
      VIOLATION_API: api,
      SERVICE_BASE_URL: answers.url,
      SERVICE_TIMEOUT_MS: '14000',
    });
    const { report, violation, tow, tasks } = createPatrol(app.consoleUrl);

    const { id } = await report(FORM);
    await eventually(async () => expect(await callsOf(town, operation)).toMatchObject([{ effect: true }]));
    const ref = await requestTow(town, { violation_reference_id: await acceptedReference(town) });
    await eventually(async () => expect((await tow(ref)).state).toBe('requested'));
    expect(await violation(id)).toMatchObject({ in_flight: true });
    answers.release();

    await eventually(async () => expect(await violation(id)).toMatchObject({ state: 'accepted', in_flight: false }));
    await eventually(async () => expect(await tow(ref)).toMatchObject({ violation_id: id, plate_number: 'ABJ 1235' }));
    await eventually(async () => expect((await violation(id)).towing_reference_ids).toEqual([ref]));
    expect(await callsOf(town, operation)).toHaveLength(1);
    expect(await violation(id)).toMatchObject(stored);
    expect(await tasks()).toEqual([]);
  },
);
