import { towKey } from '../../src/store/keys';
import { useApp } from '../support/app';
import { api, errorOf, fieldsOf, newKey, towIn, towOf, towPath } from './client';
import { answerHead, newTow, towAfter, WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });

type Event = Parameters<typeof towAfter>[1];

const post = (path: string, body: object, apiKey = app.apiKey) => api(app, apiKey).post(path).send(body);

/** The tow, the fact, its body, and the fields that the refusal names. */
const FACT_CASES: readonly [readonly Event[], Event, object, string][] = [
  [[], 'started', { latitude: 91 }, 'latitude longitude plate_number towed_location'],
  [[], 'started', { ...WHEREABOUTS, plate_number: '', occurred_at: 'nope' }, 'occurred_at plate_number'],
  [
    [],
    'started',
    { plate_number: '', occurred_at: 'nope' },
    'latitude longitude occurred_at plate_number towed_location',
  ],
  [[], 'started', { colour: 'red' }, 'colour latitude longitude plate_number towed_location'],
  [['started'], 'detained', { colour: 'red', occurred_at: 'nope' }, 'colour occurred_at'],
  [['started'], 'released', { colour: 'red', occurred_at: 'nope' }, 'colour occurred_at'],
  [['started'], 'canceled', { cancellation_reason: '', occurred_at: 'nope' }, 'cancellation_reason occurred_at'],
  [['started'], 'canceled', { occurred_at: 'nope', reason: 7 }, 'cancellation_reason occurred_at reason'],
  [['started'], 'invoice', { vehicle_type: 'CAR', delay_in_days: -1 }, 'delay_in_days vehicle_type'],
  [['started'], 'invoice', { vehicle_type: ' HEAVY ', delay_in_days: -1 }, 'delay_in_days'],
  [['started', 'invoice'], 'payment', { payment_status: 'CASH', occurred_at: 'nope' }, 'occurred_at payment_status'],
  [
    ['started', 'invoice'],
    'payment',
    { payment_status: 'NOPE', external_reference: 5, occurred_at: 'x' },
    'external_reference occurred_at payment_status',
  ],
];

const CORRECTION_CASES: readonly [readonly Event[], Event, object, string][] = [
  [
    ['started'],
    'started',
    { plate_number: '', latitude: 100, status_update_time: 'x' },
    'latitude plate_number status_update_time',
  ],
  [['started'], 'started', { vehicle_type: 'Z', status_update_time: 'x' }, 'status_update_time vehicle_type'],
  [['started', 'invoice'], 'invoice', { delay_in_days: -4, vehicle_type: 'Z' }, 'delay_in_days vehicle_type'],
  [
    ['started', 'invoice'],
    'invoice',
    { delay_in_days: -4, status_update_time: 'x' },
    'delay_in_days status_update_time',
  ],
  [['started', 'invoice'], 'invoice', { delay_in_days: -4, colour: 'red' }, 'colour delay_in_days'],
];

/** The status and the named fields of a refusal, which gives one rule per field. */
function refusalOf(response: Awaited<ReturnType<typeof post>>) {
  const fields = fieldsOf(response);
  expect(fields).toEqual([...new Set(fields)]);
  const { message, details } = errorOf(response);
  for (const { field, rule } of details) expect(message).toContain(`${field}: ${rule}`);
  return [response.status, fields.join(' ')];
}

describe('operator API: all failing fields of one request', () => {
  it.each(FACT_CASES)(
    'names the fields that break the contract and those that break a rule of the tow: after %j, %s %j',
    async (before, event, body, fields) => {
      const ref = await towAfter(app, ...before);
      const tow = await towOf(app, ref);
      expect(refusalOf(await post(towPath(ref, `/${event}`), body))).toEqual([422, fields]);
      expect(await towOf(app, ref)).toEqual(tow);
    },
  );

  it.each(CORRECTION_CASES)(
    'names the fields that break the contract and those that break a rule of the report: after %j, %s %j',
    async (before, kind, fields, named) => {
      const ref = await towAfter(app, ...before);
      const tow = await towOf(app, ref);
      const id = tow.reports.find((report) => report.kind === kind)?.id;
      expect(refusalOf(await post(towPath(ref, `/reports/${id}/correct`), fields))).toEqual([422, named]);
      expect(await towOf(app, ref)).toEqual(tow);
    },
  );

  it('makes no change when the readable fields of an invalid body could be recorded or corrected', async () => {
    const ref = await newTow(app);
    const requested = await towOf(app, ref);
    expect(refusalOf(await post(towPath(ref, '/started'), { ...WHEREABOUTS, colour: 'red' }))).toEqual([422, 'colour']);
    expect(await towOf(app, ref)).toEqual(requested);

    towIn(await post(towPath(ref, '/started'), WHEREABOUTS));
    const id = await answerHead(app, ref, 'refused');
    const started = await towOf(app, ref);
    const correction = { plate_number: 'KLM 77', latitude: 91 };
    expect(refusalOf(await post(towPath(ref, `/reports/${id}/correct`), correction))).toEqual([422, 'latitude']);
    expect(await towOf(app, ref)).toEqual(started);
  });
});

describe('operator API: a body that breaks its contract, where the request would be refused anyway', () => {
  it.each([
    ['started', { latitude: 91 }, 'latitude'],
    ['canceled', { occurred_at: 'nope' }, 'cancellation_reason'],
    ['reports/started-1/correct', { latitude: 91, vehicle_type: 'Z' }, 'latitude'],
  ])('names the fields of the contract alone for an unknown tow: %s %j', async (action, body, fields) => {
    expect(refusalOf(await post(towPath('TW-unknown', `/${action}`), body))).toEqual([422, fields]);
  });

  it.each([
    ['damaged', { head: '9999' }],
    ['encrypted under a missing key', { later: 'aes:1:lost:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
  ])('names the fields of the contract alone for a tow that is %s', async (_what, stored) => {
    const ref = await towAfter(app, 'started');
    await app.redis.ask('HSET', towKey(ref), ...Object.entries(stored).flat());
    for (const [action, body, fields] of [
      ['started', { latitude: 91 }, 'latitude'],
      ['reports/started-1/correct', { latitude: 91 }, 'latitude'],
      ['steps', { occurred_at: 'nope' }, 'step'],
    ] as const) {
      expect(refusalOf(await post(towPath(ref, `/${action}`), body))).toEqual([422, fields]);
    }
    expect((await post(towPath(ref, '/steps'), { step: 'accepted' })).status).toBe(503);
  });

  it('names the fields of the contract alone for an unknown report', async () => {
    const path = towPath(await towAfter(app, 'started'), '/reports/started-9/correct');
    expect(refusalOf(await post(path, { latitude: 91, vehicle_type: 'Z' }))).toEqual([422, 'latitude']);
  });

  it.each([
    ['started', ['started'], { latitude: 91, occurred_at: 'nope' }, 'latitude'],
    ['invoice', ['started', 'invoice'], { vehicle_type: 'CAR', delay_in_days: -1 }, 'delay_in_days'],
    ['payment', ['started'], { external_reference: 5, occurred_at: 'nope' }, 'external_reference'],
  ] as const)('names the fields of the contract alone for %s after %j', async (event, before, body, fields) => {
    const ref = await towAfter(app, ...before);
    expect(refusalOf(await post(towPath(ref, `/${event}`), body))).toEqual([422, fields]);
  });

  it('refuses a body that is not an object with its own rule alone', async () => {
    const ref = await newTow(app);
    for (const path of ['/started', '/reports/started-1/correct']) {
      expect(refusalOf(await post(towPath(ref, path), []))).toEqual([422, 'body']);
    }
  });

  it('checks the role before all fields', async () => {
    const ref = await towAfter(app, 'started');
    const body = { cancellation_reason: '', occurred_at: 'nope' };
    expect((await post(towPath(ref, '/canceled'), body, await newKey(app, 'crew'))).status).toBe(403);
  });
});

describe('operator API: rules of the state before rules of the time', () => {
  it.each([
    ['payment', ['started', 'invoice', 'payment'], {}, 'already_recorded'],
    ['canceled', ['started', 'released'], { cancellation_reason: 'gone' }, 'transition_not_allowed'],
    ['canceled', ['canceled'], { cancellation_reason: 'gone' }, 'already_recorded'],
  ] as const)('refuses %s after %j with 409 although its time is invalid', async (event, before, body, code) => {
    const ref = await towAfter(app, ...before);
    const response = await post(towPath(ref, `/${event}`), { ...body, occurred_at: '2001-01-01T00:00:00Z' });
    expect([response.status, errorOf(response).code]).toEqual([409, code]);
  });

  it('refuses the cancel of an invoiced tow with 409 although its time is invalid', async () => {
    const ref = await towAfter(app, 'started', 'invoice');
    await answerHead(app, ref, 'accepted');
    await answerHead(app, ref, 'accepted');
    const response = await post(towPath(ref, '/canceled'), { cancellation_reason: 'gone', occurred_at: 'nope' });
    expect([response.status, errorOf(response).code]).toEqual([409, 'invoice_exists']);
  });
});
