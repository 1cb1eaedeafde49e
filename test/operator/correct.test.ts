import { useApp } from '../support/app';
import { api, errorOf, fieldsOf, refsFound, towIn, towOf, towPath } from './client';
import { answerHead, claimHead, newTow, record, towAfter, WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });

function correct(ref: string, reportId: string, fields: object) {
  return api(app)
    .post(towPath(ref, `/reports/${reportId}/correct`))
    .send(fields);
}

/** Makes a tow that started at this time, then records these facts on it. Returns its reference. */
async function startedAt(occurred_at: string, ...events: Parameters<typeof record>[2][]): Promise<string> {
  const ref = await newTow(app);
  towIn(
    await api(app)
      .post(towPath(ref, '/started'))
      .send({ ...WHEREABOUTS, occurred_at }),
  );
  await record(app, ref, ...events);
  return ref;
}

const STARTED_AT = '2024-11-20T08:00:00Z';

describe('operator API: corrected reports', () => {
  it('sends the corrected fields of a report and keeps its references and all other fields', async () => {
    const ref = await startedAt(STARTED_AT);
    const id = await answerHead(app, ref, 'refused');
    const before = (await towOf(app, ref)).reports[0]?.body;
    const fields = { plate_number: 'KLM 77', latitude: 24.5, status_update_time: '2024-11-20T07:59:00Z' };
    const tow = towIn(await correct(ref, id, fields));
    expect(tow.reports[0]?.body).toEqual({ ...before, ...fields });
    expect((await claimHead(app, ref)).entry.body).toEqual({ ...before, ...fields });
  });

  it('updates the tow when its report is corrected, and finds the tow by the new plate', async () => {
    const ref = await startedAt(STARTED_AT);
    const id = await answerHead(app, ref, 'refused');
    const time = '2024-11-20T07:59:00Z';
    const fields = { plate_number: 'KLM 77', towed_location: 'Olaya Street', latitude: 24.5, longitude: 46.5 };
    const tow = towIn(await correct(ref, id, { ...fields, status_update_time: time }));
    expect(tow).toMatchObject(fields);
    expect(tow.facts).toMatchObject([{ event: 'started', occurred_at: time }]);
    expect(await refsFound(app, { q: 'klm7' })).toEqual([ref]);
  });

  it('records the old and the new value of a corrected field, and who corrected it, on the timeline', async () => {
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
  ] as const)(
    'corrects a report of kind %s that was never sent, on a tow with the facts %j, with the fields %j',
    async (kind, events, fields) => {
      const ref = await towAfter(app, ...events);
      const report = (await towOf(app, ref)).reports.find((one) => one.kind === kind);
      const tow = towIn(await correct(ref, report?.id ?? '', fields));
      expect(tow.reports.find((one) => one.kind === kind)?.body).toEqual({ ...report?.body, ...fields });
    },
  );

  it('changes the cancellation reason of the tow when the canceled report is corrected', async () => {
    const ref = await towAfter(app, 'canceled');
    const id = (await towOf(app, ref)).reports[0]?.id ?? '';
    expect(towIn(await correct(ref, id, { cancellation_reason: 'vehicle gone' })).cancellation_reason).toBe(
      'vehicle gone',
    );
  });

  it('converts a corrected time with an offset to UTC', async () => {
    const ref = await startedAt(STARTED_AT);
    const id = await answerHead(app, ref, 'refused');
    const tow = towIn(await correct(ref, id, { status_update_time: '2024-11-20T10:30:00+03:00' }));
    expect(tow.reports[0]?.body['status_update_time']).toBe('2024-11-20T07:30:00Z');
  });
});

describe('operator API: invalid corrections', () => {
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  it.each([
    [
      'a correction of a reference',
      'started',
      ['started'],
      { towing_reference_id: 'TW-1', violation_reference_id: 'V-1' },
      'towing_reference_id violation_reference_id',
    ],
    [
      'a correction of a field of another kind of report',
      'started',
      ['started'],
      { vehicle_type: 'HEAVY', delay_in_days: 1 },
      'delay_in_days vehicle_type',
    ],
    ['a correction without fields', 'started', ['started'], {}, 'body'],
    [
      'a correction without fields of a report that has only references',
      'detained',
      ['started', 'detained'],
      {},
      'body',
    ],
    [
      'a correction of a field that the report does not have',
      'detained',
      ['started', 'detained'],
      { plate_number: 'ABJ 1' },
      'plate_number',
    ],
    [
      'a correction to invalid values',
      'started',
      ['started'],
      { plate_number: '', latitude: 91, longitude: 'x' },
      'latitude longitude plate_number',
    ],
    [
      'a correction to a vehicle type that is not configured',
      'invoice',
      ['started', 'invoice'],
      { vehicle_type: 'LIGHT' },
      'vehicle_type',
    ],
    [
      'a correction to a payment status that is not configured',
      'payment',
      ['started', 'invoice', 'payment'],
      { payment_status: 'LATER' },
      'payment_status',
    ],
    [
      'a correction to an invalid time',
      'started',
      ['started'],
      { status_update_time: 'yesterday' },
      'status_update_time',
    ],
    [
      'a correction to a time in the future',
      'started',
      ['started'],
      { status_update_time: inAnHour },
      'status_update_time',
    ],
  ] as const)(
    'refuses %s with 422, names the fields and changes nothing',
    async (_what, kind, events, fields, named) => {
      const ref = await towAfter(app, ...events);
      const tow = await towOf(app, ref);
      const response = await correct(ref, tow.reports.find((one) => one.kind === kind)?.id ?? '', fields);
      expect([response.status, errorOf(response).code, fieldsOf(response).join(' ')]).toEqual([
        422,
        'field_invalid',
        named,
      ]);
      expect(await towOf(app, ref)).toEqual(tow);
    },
  );

  it('refuses a correction to a time after the next fact with 422', async () => {
    const ref = await startedAt(STARTED_AT);
    towIn(await api(app).post(towPath(ref, '/detained')).send({ occurred_at: '2024-11-20T08:30:00Z' }));
    const id = (await towOf(app, ref)).reports[0]?.id ?? '';
    const response = await correct(ref, id, { status_update_time: '2024-11-20T08:30:01Z' });
    expect([response.status, fieldsOf(response)]).toEqual([422, ['status_update_time']]);
    towIn(await correct(ref, id, { status_update_time: '2024-11-20T08:30:00Z' }));
  });
});

it('refuses to correct an accepted report with 409', async () => {
  const ref = await towAfter(app, 'started');
  const id = await answerHead(app, ref, 'accepted');
  const response = await correct(ref, id, { plate_number: 'KLM 77' });
  expect([response.status, errorOf(response).code]).toEqual([409, 'report_settled']);
});
