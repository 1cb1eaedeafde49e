import { useApp } from '../support/app';
import { audited } from './audited';
import { errorOf, fieldsOf, newKey, post, towOf, towPath } from './client';
import { FORM, newViolation, violationOf } from './violation-world';
import { deliver, newTow, record, WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });

const decide = (id: string, action: string, body: object) => post(app, `/api/violations/${id}/${action}`, body);

describe('a violation that waits', () => {
  it('is sent again by its own id or by the id in its metadata', async () => {
    const id = await newViolation(app, { id: 'case-5' });
    expect((await decide('case-5', 'retry', {})).status).toBe(202);
    expect((await violationOf(app, id)).state).toBe('pending');
    expect(errorOf(await decide('case-6', 'retry', {})).code).toBe('violation_not_found');
  });

  it('is corrected in any field of its form but its metadata, and keeps the others', async () => {
    const id = await newViolation(app);
    expect((await decide(id, 'correct', { plateType: 'TAXI', location: ' Olaya Street ' })).status).toBe(202);
    expect((await violationOf(app, id)).form).toEqual({
      ...FORM,
      plateType: 'TAXI',
      location: 'Olaya Street',
      metadata: { id },
    });
    const refused = await decide(id, 'correct', { metadata: { id: 'other' }, zoneId: 'north', violationType: 'NONE' });
    expect([refused.status, fieldsOf(refused)]).toEqual([422, ['metadata', 'violationType', 'zoneId']]);
    expect(fieldsOf(await decide(id, 'correct', {}))).toEqual(['body']);
  });

  it('given up or taken as accepted by a person it is settled, and nothing is decided on it any more', async () => {
    const [waived, accepted] = [await newViolation(app), await newViolation(app)];
    expect((await decide(waived, 'waive', { reason: 'reported twice' })).status).toBe(202);
    const seen = { reason: 'seen at the service', violation_reference_id: 'V-20261120-SEEN01' };
    expect((await decide(accepted, 'accept', seen)).status).toBe(202);
    expect(await violationOf(app, waived)).toMatchObject({ state: 'waived', reason: 'reported twice' });
    expect(await violationOf(app, accepted)).toMatchObject({
      state: 'accepted',
      accepted_how: 'by_hand',
      violation_reference_id: 'V-20261120-SEEN01',
    });
    for (const id of [waived, accepted]) {
      const answers = [await decide(id, 'retry', {}), await decide(id, 'correct', { location: 'x' })];
      expect(answers.map((answer) => [answer.status, errorOf(answer).code])).toEqual([
        [409, 'violation_settled'],
        [409, 'violation_settled'],
      ]);
    }
  });

  it('every decision on it is in the audit, with the key that made it and without a value of the form', async () => {
    const apiKey = await newKey(app, 'dispatcher', 'night desk');
    const id = await newViolation(app);
    await post(app, `/api/violations/${id}/correct`, { plateNumber: 'KLM 7788' }, { apiKey });
    await post(app, `/api/violations/${id}/waive`, { reason: 'towed by police' }, { apiKey });
    const { items } = await audited(app);
    expect(items.filter(({ on }) => on.violation_id === id && items.length > 0)).toMatchObject([
      { action: 'violation.waived', by: 'night desk', why: 'towed by police' },
      { action: 'violation.corrected', by: 'night desk', what: { fields: ['plateNumber'] } },
      { action: 'violation.reported' },
    ]);
    expect(JSON.stringify(items)).not.toContain('7788');
  });
});

describe('a tow and its violation', () => {
  const whereabouts = {
    plate_number: FORM.plateNumber,
    towed_location: FORM.location,
    latitude: FORM.latitude,
    longitude: FORM.longitude,
    zone_id: FORM.zoneId,
    violation_type: FORM.violationType,
  };

  it('are joined by the id in the metadata that the tow request echoes', async () => {
    const id = await newViolation(app, { id: 'case-9' });
    const ref = await newTow(app, { violation_reference_id: 'V-1', metadata: { id: 'case-9' } });
    expect(await towOf(app, ref)).toMatchObject({ ...whereabouts, violation_id: id, state: 'requested' });
    expect(await violationOf(app, id)).toMatchObject({
      violation_reference_id: 'V-1',
      towing_reference_ids: [ref],
      // Nothing of it was ever sent, so nothing proves that the service took it from us.
      state: 'pending',
    });
    expect((await post(app, towPath(ref, '/started'), {})).status).toBe(202);
  });

  it("are joined by the service's reference before all other names", async () => {
    const [byReference, byMetadata] = [await newViolation(app), await newViolation(app, { id: 'case-10' })];
    await decide(byReference, 'accept', { reason: 'seen', violation_reference_id: 'V-10' });
    const ref = await newTow(app, { violation_reference_id: 'V-10', metadata: { id: 'case-10' } });
    expect((await towOf(app, ref)).violation_id).toBe(byReference);
    expect((await violationOf(app, byMetadata)).towing_reference_ids).toEqual([]);
  });

  it('are joined by the metadata although the service has told another reference, and a person is asked', async () => {
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

  it('a tow request processed twice joins once', async () => {
    const id = await newViolation(app, { id: 'case-12' });
    const body = { violation_reference_id: 'V-12', towing_reference_id: 'TW-12', metadata: { id: 'case-12' } };
    await deliver(app, 'tow_request', body);
    await deliver(app, 'tow_request', body);
    expect((await violationOf(app, id)).towing_reference_ids).toEqual(['TW-12']);
  });

  it('are linked by a person where they did not find each other, and the tow starts with what the violation says', async () => {
    const id = await newViolation(app);
    const ref = await newTow(app);
    expect((await post(app, towPath(ref, '/violation'), { violation_id: id })).status).toBe(202);
    expect(await towOf(app, ref)).toMatchObject({ ...whereabouts, violation_id: id });
    const again = await post(app, towPath(ref, '/violation'), { violation_id: id });
    expect([again.status, errorOf(again).code]).toEqual([409, 'already_linked']);
    const nobody = await post(app, towPath(ref, '/violation'), { violation_id: 'nobody' });
    expect([nobody.status, fieldsOf(nobody)]).toEqual([422, ['violation_id']]);
    expect((await violationOf(app, id)).towing_reference_ids).toEqual([ref]);
  });

  it('are linked anew by a person, and the next tow request of that reference follows', async () => {
    const [wrong, right] = [await newViolation(app), await newViolation(app)];
    const ref = await newTow(app, { violation_reference_id: 'V-20' });
    for (const id of [wrong, right]) {
      expect((await post(app, towPath(ref, '/violation'), { violation_id: id })).status).toBe(202);
    }
    const next = await newTow(app, { violation_reference_id: 'V-20' });
    expect(await violationOf(app, wrong)).toMatchObject({ towing_reference_ids: [], violation_reference_id: null });
    expect((await violationOf(app, right)).towing_reference_ids).toEqual([ref, next]);
    expect((await towOf(app, next)).violation_id).toBe(right);
  });

  it('linked after its start a tow keeps what the field has said', async () => {
    const id = await newViolation(app);
    const ref = await newTow(app);
    await record(app, ref, 'started');
    expect((await post(app, towPath(ref, '/violation'), { violation_id: id })).status).toBe(202);
    expect(await towOf(app, ref)).toMatchObject({
      plate_number: WHEREABOUTS.plate_number,
      violation_id: id,
      zone_id: FORM.zoneId,
    });
  });
});
