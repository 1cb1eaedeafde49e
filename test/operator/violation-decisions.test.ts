import { useApp } from '../support/app';
import { api, audited, errorOf, fieldsOf, newKey, towOf, towPath } from './client';
import { COMPLETE, report, REQUIRED, violationIn } from './forms';
import { deliver, VIOLATION_FORM, newTow, newViolation, record, violationOf, WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });

const decide = (id: string, action: string, body: object, apiKey = app.apiKey) =>
  api(app, apiKey).post(`/api/violations/${id}/${action}`).send(body);
const link = (ref: string, violationId: string) =>
  api(app).post(towPath(ref, '/violation')).send({ violation_id: violationId });

describe('operator API: decisions on violations', () => {
  it('retries a violation named by its id or by the id in its metadata', async () => {
    const id = await newViolation(app, { id: 'case-5' });
    await decide('case-5', 'retry', {}).expect(202);
    expect((await violationOf(app, id)).state).toBe('pending');
    expect(errorOf(await decide('case-6', 'retry', {})).code).toBe('violation_not_found');
  });

  it('corrects the given fields of a violation, keeps the others and refuses to change its metadata', async () => {
    const id = await newViolation(app);
    await decide(id, 'correct', { plateType: 'TAXI', location: ' Olaya Street ' }).expect(202);
    expect((await violationOf(app, id)).form).toEqual({
      ...VIOLATION_FORM,
      plateType: 'TAXI',
      location: 'Olaya Street',
      metadata: { id },
    });
    const invalid = { metadata: { id: 'other' }, zoneId: 'north', violationType: 'NONE' };
    const refused = await decide(id, 'correct', invalid).expect(422);
    expect(fieldsOf(refused)).toEqual(['metadata', 'violationType', 'zoneId']);
    expect(fieldsOf(await decide(id, 'correct', {}))).toEqual(['body']);
  });

  it('clears the optional fields of a violation that a correction sends as null', async () => {
    const { id } = violationIn(await report(app, COMPLETE));
    const { form } = await violationOf(app, id);
    const isOptional = (name: string) => name !== 'metadata' && !(name in REQUIRED);
    const cleared = Object.keys(form).filter(isOptional);
    expect(cleared).toHaveLength(9);
    await decide(id, 'correct', Object.fromEntries(cleared.map((name) => [name, null]))).expect(202);
    const kept = Object.fromEntries(Object.entries(form).filter(([name]) => !isOptional(name)));
    expect((await violationOf(app, id)).form).toEqual(kept);
    const { items } = await audited(app);
    expect(items[0]).toMatchObject({ what: { fields: cleared } });
  });

  it('removes the warning about an optional field of a violation that a correction clears', async () => {
    const { id } = violationIn(await report(app, REQUIRED));
    const warned = await decide(id, 'correct', { mobileNumber: '5' }).expect(202);
    expect(violationIn(warned).warnings.map(({ field }) => field)).toEqual(['mobileNumber']);
    const emptied = await decide(id, 'correct', { mobileNumber: null }).expect(202);
    expect(violationIn(emptied).warnings).toEqual([]);
  });

  it('keeps saying which invisible characters were removed until that field of a violation is corrected', async () => {
    const { id } = violationIn(await report(app, REQUIRED));
    const fieldsWarned = async (body: object) =>
      violationIn(await decide(id, 'correct', body).expect(202)).warnings.map(({ field }) => field);
    expect(await fieldsWarned({ plateNumber: '\u200fABJ 1235' })).toEqual(['plateNumber']);
    expect((await violationOf(app, id)).form.plateNumber).toBe('ABJ 1235');
    expect(await fieldsWarned({ location: 'Olaya Street' })).toEqual(['plateNumber']);
    expect(await fieldsWarned({ plateNumber: 'ABJ 1236' })).toEqual([]);
  });

  it.each(Object.keys(REQUIRED))('refuses to clear the required field %s of a violation with 422', async (field) => {
    const id = await newViolation(app);
    for (const empty of [null, '', ' ']) {
      expect(fieldsOf(await decide(id, 'correct', { [field]: empty, fullName: null }).expect(422))).toEqual([field]);
    }
    expect((await violationOf(app, id)).form).toEqual({ ...VIOLATION_FORM, metadata: { id } });
  });

  it('settles a violation that is waived or accepted by hand and refuses further decisions with 409', async () => {
    const [waived, accepted] = [await newViolation(app), await newViolation(app)];
    await decide(waived, 'waive', { reason: 'reported twice' }).expect(202);
    const seen = { reason: 'seen at the service', violation_reference_id: 'V-20261120-SEEN01' };
    await decide(accepted, 'accept', seen).expect(202);
    expect(await violationOf(app, waived)).toMatchObject({ state: 'waived', reason: 'reported twice' });
    expect(await violationOf(app, accepted)).toMatchObject({
      state: 'accepted',
      accepted_how: 'by_hand',
      violation_reference_id: 'V-20261120-SEEN01',
    });
    for (const id of [waived, accepted]) {
      const responses = [await decide(id, 'retry', {}), await decide(id, 'correct', { location: 'x' })];
      expect(responses.map((response) => [response.status, errorOf(response).code])).toEqual([
        [409, 'violation_settled'],
        [409, 'violation_settled'],
      ]);
    }
  });

  it('refuses a reference for an accepted violation that a tow request could not carry', async () => {
    const id = await newViolation(app);
    for (const reference of ['x'.repeat(201), 'V-1\nV-2', 'V-\ud800', '..']) {
      const refused = await decide(id, 'accept', { reason: 'seen', violation_reference_id: reference }).expect(422);
      expect(fieldsOf(refused)).toEqual(['violation_reference_id']);
    }
    expect(await violationOf(app, id)).toMatchObject({ violation_reference_id: null });
  });

  it('audits every decision on a violation with its key and without a value of the form', async () => {
    const apiKey = await newKey(app, 'dispatcher', 'night desk');
    const id = await newViolation(app);
    await decide(id, 'correct', { plateNumber: 'KLM 7788' }, apiKey);
    await decide(id, 'waive', { reason: 'towed by police' }, apiKey);
    const { items } = await audited(app);
    expect(items.filter(({ on }) => on.violation_id === id && items.length > 0)).toMatchObject([
      { action: 'violation.waived', by: 'night desk', why: 'towed by police' },
      { action: 'violation.corrected', by: 'night desk', what: { fields: ['plateNumber'] } },
      { action: 'violation.reported' },
    ]);
    expect(JSON.stringify(items)).not.toContain('7788');
  });
});

describe('operator API: links between tows and violations', () => {
  const whereabouts = {
    plate_number: VIOLATION_FORM.plateNumber,
    towed_location: VIOLATION_FORM.location,
    latitude: VIOLATION_FORM.latitude,
    longitude: VIOLATION_FORM.longitude,
    zone_id: VIOLATION_FORM.zoneId,
    violation_type: VIOLATION_FORM.violationType,
  };

  it('links a tow to the violation whose metadata id the tow request echoes', async () => {
    const id = await newViolation(app, { id: 'case-9' });
    const ref = await newTow(app, { violation_reference_id: 'V-1', metadata: { id: 'case-9' } });
    expect(await towOf(app, ref)).toMatchObject({ ...whereabouts, violation_id: id, state: 'requested' });
    expect(await violationOf(app, id)).toMatchObject({
      violation_reference_id: 'V-1',
      towing_reference_ids: [ref],
      // The violation was never sent, so the tow request does not prove that the service accepted it from us.
      state: 'pending',
    });
    await api(app).post(towPath(ref, '/started')).send({}).expect(202);
  });

  it('links a tow by the reference of the service rather than by the metadata id', async () => {
    const [byReference, byMetadata] = [await newViolation(app), await newViolation(app, { id: 'case-10' })];
    await decide(byReference, 'accept', { reason: 'seen', violation_reference_id: 'V-10' });
    const ref = await newTow(app, { violation_reference_id: 'V-10', metadata: { id: 'case-10' } });
    expect((await towOf(app, ref)).violation_id).toBe(byReference);
    expect((await violationOf(app, byMetadata)).towing_reference_ids).toEqual([]);
  });

  it('links a tow by the metadata id and opens a task when the violation already has another reference', async () => {
    const id = await newViolation(app, { id: 'case-11' });
    await decide(id, 'accept', { reason: 'seen', violation_reference_id: 'V-11' });
    const ref = await newTow(app, { violation_reference_id: 'V-other', metadata: { id: 'case-11' } });
    expect(await towOf(app, ref)).toMatchObject({
      ...whereabouts,
      violation_id: id,
      tasks: [{ type: 'violation_twice', violation_id: id, actions: ['resolve'] }],
    });
    const again = await newTow(app, { violation_reference_id: 'V-other', metadata: { id: 'case-11' } });
    expect((await towOf(app, again)).violation_id).toBe(id);
  });

  it('links a tow once when its tow request is processed twice', async () => {
    const id = await newViolation(app, { id: 'case-12' });
    const body = { violation_reference_id: 'V-12', towing_reference_id: 'TW-12', metadata: { id: 'case-12' } };
    await deliver(app, 'tow_request', body);
    await deliver(app, 'tow_request', body);
    expect((await violationOf(app, id)).towing_reference_ids).toEqual(['TW-12']);
  });

  it('links a tow to a violation by hand, copies the violation into the tow and refuses a second link', async () => {
    const id = await newViolation(app);
    const ref = await newTow(app);
    await link(ref, id).expect(202);
    expect(await towOf(app, ref)).toMatchObject({ ...whereabouts, violation_id: id });
    const again = await link(ref, id).expect(409);
    expect(errorOf(again).code).toBe('already_linked');
    const unknown = await link(ref, 'unknown').expect(422);
    expect(fieldsOf(unknown)).toEqual(['violation_id']);
    expect((await violationOf(app, id)).towing_reference_ids).toEqual([ref]);
  });

  it('relinks a tow by hand and links the next tow request of that reference to the same violation', async () => {
    const [wrong, right] = [await newViolation(app), await newViolation(app)];
    const ref = await newTow(app, { violation_reference_id: 'V-20' });
    for (const id of [wrong, right]) await link(ref, id).expect(202);
    const next = await newTow(app, { violation_reference_id: 'V-20' });
    expect(await violationOf(app, wrong)).toMatchObject({ towing_reference_ids: [], violation_reference_id: null });
    expect((await violationOf(app, right)).towing_reference_ids).toEqual([ref, next]);
    expect((await towOf(app, next)).violation_id).toBe(right);
  });

  it('keeps the recorded facts of a started tow when it is linked to a violation', async () => {
    const id = await newViolation(app);
    const ref = await newTow(app);
    await record(app, ref, 'started');
    await link(ref, id).expect(202);
    expect(await towOf(app, ref)).toMatchObject({
      plate_number: WHEREABOUTS.plate_number,
      violation_id: id,
      zone_id: VIOLATION_FORM.zoneId,
    });
  });
});
