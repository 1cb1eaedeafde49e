import type { TowView } from '../../src/contracts/operator';
import { useApp } from '../support/app';
import { api, errorOf, newKey, towIn, towOf, towPath } from './client';
import { newTow, record, towAfter, WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });

const MINUTE_MS = 60_000;
/** A process estimates the time of Redis between two commands. */
const REDIS_CLOCK_ERROR_MS = 1000;
const minutesFromNow = (minutes: number) => new Date(Date.now() + minutes * MINUTE_MS).toISOString();

describe('operator API: facts of a tow in their usual order', () => {
  it('answers each fact with 202 and the tow, with its new fact and the report that follows from it', async () => {
    const ref = await newTow(app);
    const { violation_reference_id } = await towOf(app, ref);
    const references = { violation_reference_id, towing_reference_id: ref };
    const at = (minute: number) => `2024-11-20T08:0${minute}:00Z`;
    const steps = [
      [
        'started',
        { ...WHEREABOUTS, occurred_at: at(1) },
        'started',
        { ...references, ...WHEREABOUTS, status_update_time: at(1) },
      ],
      ['detained', { occurred_at: at(2) }, 'detained', references],
      [
        'invoice',
        { vehicle_type: 'HEAVY', delay_in_days: 2, override_reason: 'agreed by phone' },
        'detained',
        { towing_reference_id: ref, vehicle_type: 'HEAVY', delay_in_days: 2 },
      ],
      [
        'payment',
        { payment_status: 'PAID', external_reference: 'receipt 17', occurred_at: at(4) },
        'detained',
        { towing_reference_id: ref, payment_status: 'PAID' },
      ],
      ['released', { occurred_at: at(5) }, 'released', references],
    ] as const;
    for (const [index, [event, body, state, reportBody]] of steps.entries()) {
      const tow = towIn(
        await api(app)
          .post(towPath(ref, `/${event}`))
          .send(body),
      );
      expect(tow).toMatchObject({ towing_reference_id: ref, state });
      expect(tow.facts).toHaveLength(index + 1);
      expect(tow.facts.at(-1)).toMatchObject({ event, by: 'bootstrap' });
      const time = tow.facts.at(-1)?.occurred_at;
      expect(time).toBe('occurred_at' in body ? body.occurred_at : time);
      expect(tow.reports).toHaveLength(index + 1);
      expect(tow.reports.at(-1)).toMatchObject({ kind: event, state: 'pending', attempts: 0, last_error: null });
      expect(tow.reports.at(-1)?.body).toEqual(reportBody);
      expect(Object.keys(tow.reports.at(-1)?.body ?? {})).toEqual(Object.keys(reportBody));
      expect(await towOf(app, ref)).toEqual(tow);
    }
  });

  it('sends a plate without its invisible characters, and the timeline names them', async () => {
    const ref = await newTow(app);
    const body = { ...WHEREABOUTS, plate_number: '\u200fABJ 1234\u200e' };
    const tow = towIn(await api(app).post(towPath(ref, '/started')).send(body));
    expect(tow.plate_number).toBe('ABJ 1234');
    expect(tow.reports.at(-1)?.body).toMatchObject({ plate_number: 'ABJ 1234' });
    const removed = tow.timeline.flatMap((entry) =>
      'removed_characters' in entry ? [entry['removed_characters']] : [],
    );
    expect(removed).toEqual(['U+200F RIGHT-TO-LEFT MARK, U+200E LEFT-TO-RIGHT MARK']);
  });

  it('increases the version of the tow with each fact', async () => {
    const ref = await towAfter(app);
    const versions = [(await towOf(app, ref)).version];
    for (const event of ['started', 'detained', 'released'] as const) {
      await record(app, ref, event);
      versions.push((await towOf(app, ref)).version);
    }
    expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b));
  });
});

describe('operator API: other sequences of facts', () => {
  it('cancels a tow before it started', async () => {
    const ref = await newTow(app);
    const body = {
      cancellation_reason: 'gone on arrival',
      occurred_at: '2024-11-20T08:01:00Z',
      reason: 'seen by crew 4',
    };
    const tow = towIn(await api(app).post(towPath(ref, '/canceled')).send(body));
    expect(tow).toMatchObject({ state: 'canceled', cancellation_reason: 'gone on arrival', plate_number: null });
    expect(tow.reports.map(({ body: sent }) => sent)).toEqual([
      {
        violation_reference_id: tow.violation_reference_id,
        towing_reference_id: ref,
        cancellation_reason: 'gone on arrival',
      },
    ]);
  });

  it('cancels a tow after it started, and reports the start before the cancel', async () => {
    const ref = await towAfter(app, 'started', 'canceled');
    expect((await towOf(app, ref)).reports).toMatchObject([
      { kind: 'started', state: 'pending' },
      { kind: 'canceled', state: 'pending' },
    ]);
  });

  it('releases a tow that was started and never detained', async () => {
    const ref = await towAfter(app, 'started', 'released');
    expect(await towOf(app, ref)).toMatchObject({ state: 'released' });
  });

  it('withdraws the unsent invoice and payment reports when a tow is canceled', async () => {
    const ref = await towAfter(app, 'started', 'invoice', 'payment', 'canceled');
    expect((await towOf(app, ref)).reports).toMatchObject([
      { kind: 'started', state: 'pending' },
      { kind: 'invoice', state: 'waived', reason: 'withdrawn by cancel' },
      { kind: 'payment', state: 'waived', reason: 'withdrawn by cancel' },
      { kind: 'canceled', state: 'pending' },
    ]);
  });

  it('permits the role ops, but no dispatcher, to cancel a detained tow', async () => {
    const ref = await towAfter(app, 'started', 'detained');
    const body = { cancellation_reason: 'wrong vehicle' };
    const byDispatcher = await api(app, await newKey(app, 'dispatcher'))
      .post(towPath(ref, '/canceled'))
      .send(body);
    expect([byDispatcher.status, errorOf(byDispatcher).code]).toEqual([403, 'role_not_allowed']);
    expect(towIn(await api(app).post(towPath(ref, '/canceled')).send(body)).state).toBe('canceled');
  });
});

describe('operator API: fields of a fact for the audit only', () => {
  it.each([
    ['reason', 'canceled', [], { cancellation_reason: 'gone', reason: 'seen by crew 4' }, 'seen by crew 4'],
    ['override_reason', 'invoice', ['started'], { vehicle_type: 'HEAVY', override_reason: 'agreed' }, 'agreed'],
    ['external_reference', 'payment', ['started', 'invoice'], { external_reference: 'receipt 17' }, 'receipt 17'],
  ] as const)(
    'shows the field %s of the fact %s on the tow and does not report it',
    async (_field, event, before, body, words) => {
      const ref = await towAfter(app, ...before);
      const tow = towIn(
        await api(app)
          .post(towPath(ref, `/${event}`))
          .send(body),
      );
      expect(JSON.stringify(tow.reports)).not.toContain(words);
      expect([...tow.facts, ...tow.timeline].map((entry) => JSON.stringify(entry)).join('\n')).toContain(words);
    },
  );
});

describe('operator API: time of a fact', () => {
  const startedAt = async (occurred_at?: string): Promise<TowView> => {
    const ref = await newTow(app);
    return towIn(
      await api(app)
        .post(towPath(ref, '/started'))
        .send({ ...WHEREABOUTS, ...(occurred_at && { occurred_at }) }),
    );
  };

  it.each(['2024-11-20T08:00:00Z', '2024-11-20T08:00:00.123456Z', '2024-11-20T08:00Z', '2020-02-29T23:59:59Z'])(
    'reports the time of a fact exactly as given when it is in UTC: %s',
    async (given) => {
      const tow = await startedAt(given);
      expect(tow.facts[0]?.occurred_at).toBe(given);
      expect(tow.reports[0]?.body['status_update_time']).toBe(given);
    },
  );

  it('converts the time of a fact with another offset to UTC', async () => {
    const tow = await startedAt('2024-11-20T11:00:00+03:00');
    expect(tow.reports[0]?.body['status_update_time']).toBe('2024-11-20T08:00:00Z');
  });

  it('uses the current time, in whole seconds, for a fact without a time', async () => {
    const earliestMs = Date.now() - REDIS_CLOCK_ERROR_MS;
    const time = Date.parse((await startedAt()).facts[0]?.occurred_at ?? '');
    expect(time % 1000).toBe(0);
    expect(time).toBeGreaterThan(earliestMs - 1000);
    expect(time).toBeLessThanOrEqual(Date.now() + REDIS_CLOCK_ERROR_MS);
  });

  it('refuses a fact of another millennium, which is a slip of the year, with 422', async () => {
    const response = await api(app)
      .post(towPath(await newTow(app), '/started'))
      .send({ ...WHEREABOUTS, occurred_at: '1026-11-20T10:00:00Z' });
    expect([response.status, errorOf(response).details]).toEqual([
      422,
      [{ field: 'occurred_at', rule: 'must not be before the year 2000' }],
    ]);
  });

  it('accepts a fact up to 2 minutes in the future and refuses a later one with 422', async () => {
    const ahead = minutesFromNow(1.5);
    expect((await startedAt(ahead)).facts[0]?.occurred_at).toBe(ahead);
    const tooFar = await api(app)
      .post(towPath(await newTow(app), '/started'))
      .send({
        ...WHEREABOUTS,
        occurred_at: minutesFromNow(3),
      });
    expect([tooFar.status, errorOf(tooFar).details]).toMatchObject([422, [{ field: 'occurred_at' }]]);
  });

  it('accepts a fact at the time of the previous fact and refuses an earlier one with 422', async () => {
    const ref = await newTow(app);
    const first = '2024-11-20T08:30:00Z';
    await api(app)
      .post(towPath(ref, '/started'))
      .send({ ...WHEREABOUTS, occurred_at: first });
    const earlier = await api(app).post(towPath(ref, '/detained')).send({ occurred_at: '2024-11-20T08:29:59Z' });
    expect([earlier.status, errorOf(earlier).details]).toMatchObject([422, [{ field: 'occurred_at' }]]);
    expect(towIn(await api(app).post(towPath(ref, '/detained')).send({ occurred_at: first })).state).toBe('detained');
  });
});
