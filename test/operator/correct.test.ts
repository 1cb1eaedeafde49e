import { useApp } from '../support/app';
import { errorOf, fieldsOf, post, refsFound, towIn, towOf, towPath } from './client';
import { answerHead, claimHead, newTow, record, towAfter, WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });

function correct(ref: string, reportId: string, fields: object) {
  return post(app, towPath(ref, `/reports/${reportId}/correct`), fields);
}

/** A tow that started at this moment, then went through these facts now. */
async function startedAt(occurred_at: string, ...events: Parameters<typeof record>[2][]): Promise<string> {
  const ref = await newTow(app);
  towIn(await post(app, towPath(ref, '/started'), { ...WHEREABOUTS, occurred_at }));
  await record(app, ref, ...events);
  return ref;
}

const STARTED_AT = '2024-11-20T08:00:00Z';

describe('a corrected report', () => {
  it('goes out as corrected; what was left out and the references stay', async () => {
    const ref = await startedAt(STARTED_AT);
    const id = await answerHead(app, ref, 'refused');
    const before = (await towOf(app, ref)).reports[0]?.body;
    const fields = { plate_number: 'KLM 77', latitude: 24.5, status_update_time: '2024-11-20T07:59:00Z' };
    const tow = towIn(await correct(ref, id, fields));
    expect(tow.reports[0]?.body).toEqual({ ...before, ...fields });
    expect((await claimHead(app, ref)).body).toEqual({ ...before, ...fields });
  });

  it('corrects the tow with it, which is then found by its new plate', async () => {
    const ref = await startedAt(STARTED_AT);
    const id = await answerHead(app, ref, 'refused');
    const moment = '2024-11-20T07:59:00Z';
    const fields = { plate_number: 'KLM 77', towed_location: 'Olaya Street', latitude: 24.5, longitude: 46.5 };
    const tow = towIn(await correct(ref, id, { ...fields, status_update_time: moment }));
    expect(tow).toMatchObject(fields);
    expect(tow.facts).toMatchObject([{ event: 'started', occurred_at: moment }]);
    expect(await refsFound(app, { q: 'klm7' })).toEqual([ref]);
  });

  it('keeps what it said before beside what it says now, and who changed it', async () => {
    const ref = await startedAt(STARTED_AT);
    const id = await answerHead(app, ref, 'refused');
    const tow = towIn(await correct(ref, id, { plate_number: 'KLM 77' }));
    expect(tow.timeline.at(-1)).toMatchObject({
      type: 'report.corrected',
      report_id: id,
      by: 'bootstrap',
      fields: { plate_number: { old: WHEREABOUTS.plate_number, new: 'KLM 77' } },
    });
  });

  it.each([
    ['canceled', ['canceled'], { cancellation_reason: 'vehicle gone' }],
    ['invoice', ['started', 'invoice'], { delay_in_days: 9 }],
    ['invoice', ['started', 'invoice'], { vehicle_type: 'HEAVY', delay_in_days: 0 }],
    ['payment', ['started', 'invoice', 'payment'], { payment_status: 'PAID' }],
  ] as const)('may be a %s that was never tried: after %j %j', async (kind, events, fields) => {
    const ref = await towAfter(app, ...events);
    const report = (await towOf(app, ref)).reports.find((one) => one.kind === kind);
    const tow = towIn(await correct(ref, report?.id ?? '', fields));
    expect(tow.reports.find((one) => one.kind === kind)?.body).toEqual({ ...report?.body, ...fields });
  });

  it('of a canceled tow changes the reason that the tow shows', async () => {
    const ref = await towAfter(app, 'canceled');
    const id = (await towOf(app, ref)).reports[0]?.id ?? '';
    expect(towIn(await correct(ref, id, { cancellation_reason: 'vehicle gone' })).cancellation_reason).toBe(
      'vehicle gone',
    );
  });

  it('converts a time with an offset to UTC', async () => {
    const ref = await startedAt(STARTED_AT);
    const id = await answerHead(app, ref, 'refused');
    const tow = towIn(await correct(ref, id, { status_update_time: '2024-11-20T10:30:00+03:00' }));
    expect(tow.reports[0]?.body['status_update_time']).toBe('2024-11-20T07:30:00.000Z');
  });
});

describe('a correction is refused 422 with the fields named, and nothing changes', () => {
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  it.each([
    [
      'of a reference',
      'started',
      ['started'],
      { towing_reference_id: 'TW-1', violation_reference_id: 'V-1' },
      'towing_reference_id violation_reference_id',
    ],
    [
      'of a field of another report',
      'started',
      ['started'],
      { vehicle_type: 'HEAVY', delay_in_days: 1 },
      'delay_in_days vehicle_type',
    ],
    ['of nothing', 'started', ['started'], {}, 'body'],
    ['of a report that says nothing but its references', 'detained', ['started', 'detained'], {}, 'body'],
    [
      'of a report that has no such field',
      'detained',
      ['started', 'detained'],
      { plate_number: 'ABJ 1' },
      'plate_number',
    ],
    [
      'to values that are none',
      'started',
      ['started'],
      { plate_number: '', latitude: 91, longitude: 'x' },
      'latitude longitude plate_number',
    ],
    [
      'to a vehicle type that is not configured',
      'invoice',
      ['started', 'invoice'],
      { vehicle_type: 'LIGHT' },
      'vehicle_type',
    ],
    [
      'to a payment status that is not configured',
      'payment',
      ['started', 'invoice', 'payment'],
      { payment_status: 'LATER' },
      'payment_status',
    ],
    ['to a time that is none', 'started', ['started'], { status_update_time: 'yesterday' }, 'status_update_time'],
    ['to a time to come', 'started', ['started'], { status_update_time: inAnHour }, 'status_update_time'],
  ] as const)('%s', async (_what, kind, events, fields, named) => {
    const ref = await towAfter(app, ...events);
    const tow = await towOf(app, ref);
    const answer = await correct(ref, tow.reports.find((one) => one.kind === kind)?.id ?? '', fields);
    expect([answer.status, errorOf(answer).code, fieldsOf(answer).join(' ')]).toEqual([422, 'field_invalid', named]);
    expect(await towOf(app, ref)).toEqual(tow);
  });

  it('to a time after the next fact', async () => {
    const ref = await startedAt(STARTED_AT);
    towIn(await post(app, towPath(ref, '/detained'), { occurred_at: '2024-11-20T08:30:00Z' }));
    const id = (await towOf(app, ref)).reports[0]?.id ?? '';
    const answer = await correct(ref, id, { status_update_time: '2024-11-20T08:30:01Z' });
    expect([answer.status, fieldsOf(answer)]).toEqual([422, ['status_update_time']]);
    towIn(await correct(ref, id, { status_update_time: '2024-11-20T08:30:00Z' }));
  });
});

it('a report that was accepted cannot be corrected any more', async () => {
  const ref = await towAfter(app, 'started');
  const id = await answerHead(app, ref, 'accepted');
  const answer = await correct(ref, id, { plate_number: 'KLM 77' });
  expect([answer.status, errorOf(answer).code]).toEqual([409, 'report_settled']);
});
