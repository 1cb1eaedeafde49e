import { NO_DISPATCH } from '../../src/domain/tow/dispatch';
import { KEYS } from '../../src/store/keys';
import { linesOf } from '../support/captured-log';
import { useApp } from '../support/app';
import { api, entriesOf, errorOf, fieldsOf, newKey, towIn, towOf, towPath } from './client';
import { newTow, towAfter, WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });
const CREW = 'Salman al-Harbi';
const ANY_TEXT: unknown = expect.any(String);

const asDesk = async () => api(app, await newKey(app, 'dispatcher', 'desk'));
const by = { by: 'desk', by_id: ANY_TEXT, role: 'dispatcher' };

describe('operator API: dispatch data of a tow', () => {
  it.each([
    [
      'assignment',
      { crew: ` ${CREW} `, truck: 'T-12' },
      { assignment: { crew: CREW, truck: 'T-12', at: ANY_TEXT, by: 'desk' } },
      { type: 'tow.assigned', crew: CREW, truck: 'T-12' },
      { action: 'tow.assigned', what: {} },
    ],
    [
      'steps',
      { step: 'en_route', occurred_at: '2024-11-20T11:00:00+03:00' },
      {
        steps: [
          {
            step: 'en_route',
            occurred_at: '2024-11-20T08:00:00Z',
            recorded_at: ANY_TEXT,
            by: 'desk',
          },
        ],
      },
      { type: 'tow.step_recorded', step: 'en_route', occurred_at: '2024-11-20T08:00:00Z' },
      { action: 'tow.step_recorded', what: { step: 'en_route', occurred_at: '2024-11-20T08:00:00Z' } },
    ],
    [
      'yard',
      { yard: 'North', slot: 'B4' },
      { yard: { yard: 'North', slot: 'B4', at: ANY_TEXT, by: 'desk' } },
      { type: 'tow.yard_set', yard: 'North', slot: 'B4' },
      { action: 'tow.yard_set', what: {} },
    ],
    [
      'notes',
      { text: 'keys are at the gate' },
      { notes: [{ text: 'keys are at the gate', at: ANY_TEXT, by: 'desk' }] },
      { type: 'tow.note_added' },
      { action: 'tow.note_added', what: {} },
    ],
  ] as const)(
    'stores the dispatch data of a request to %s with the tow, on its timeline and in the audit, and adds no report',
    async (path, body, kept, event, audited) => {
      const ref = await towAfter(app, 'started');
      const desk = await asDesk();
      const before = await towOf(app, ref);
      const entries = await entriesOf(app, async () => {
        const after = towIn(await desk.post(towPath(ref, `/${path}`)).send(body));
        expect(after).toEqual({
          ...before,
          version: before.version + 1,
          dispatch: { ...before.dispatch, ...kept },
          timeline: [...before.timeline, { ...event, by: 'desk', at: ANY_TEXT }],
        });
      });
      expect(entries).toEqual([{ ...by, on: { towing_reference_id: ref }, why: null, ...audited }]);
      expect(await towOf(app, ref)).toMatchObject({ dispatch: kept });
    },
  );

  it('removes the assignment of a tow and records it on the timeline and in the audit', async () => {
    const ref = await newTow(app);
    const desk = await asDesk();
    towIn(await desk.post(towPath(ref, '/assignment')).send({ crew: CREW }));
    const entries = await entriesOf(app, async () => {
      const tow = towIn(await desk.post(towPath(ref, '/assignment')).send({ crew: null }));
      expect(tow.dispatch.assignment).toBeNull();
      expect(tow.timeline.at(-1)).toMatchObject({ type: 'tow.unassigned', crew: null, by: 'desk' });
    });
    expect(entries).toMatchObject([{ ...by, action: 'tow.unassigned', what: {} }]);
  });
});

it('reports all facts of a tow that has no dispatch data', async () => {
  const ref = await towAfter(app, 'started', 'detained', 'invoice', 'payment', 'released');
  const { dispatch, reports } = await towOf(app, ref);
  expect(dispatch).toEqual(NO_DISPATCH);
  expect(reports.map(({ kind }) => kind)).toEqual(['started', 'detained', 'invoice', 'payment', 'released']);
});

it('keeps the dispatch data of a tow through its later facts, and changes only the data that a request names', async () => {
  const ref = await newTow(app);
  for (const [path, body] of [
    ['/assignment', { crew: CREW, truck: 'T-12' }],
    ['/steps', { step: 'accepted' }],
    ['/steps', { step: 'on_scene' }],
    ['/started', WHEREABOUTS],
    ['/steps', { step: 'hooked' }],
    ['/detained', {}],
    ['/yard', { yard: 'North', slot: 'B4' }],
    ['/released', {}],
    ['/notes', { text: 'handed over with both keys' }],
  ] as const) {
    towIn(await api(app).post(towPath(ref, path)).send(body));
  }
  const { state, dispatch, reports } = await towOf(app, ref);
  expect(state).toBe('released');
  expect(reports.map(({ kind }) => kind)).toEqual(['started', 'detained', 'released']);
  expect(dispatch).toMatchObject({
    assignment: { crew: CREW },
    yard: { yard: 'North' },
    notes: [{ text: 'handed over with both keys' }],
  });
  expect(dispatch.steps.map(({ step }) => step)).toEqual(['accepted', 'on_scene', 'hooked']);
});

it.each([
  ['/assignment', { crew: CREW }],
  ['/steps', { step: 'accepted' }],
  ['/yard', { yard: 'North' }],
  ['/holds', { reason: 'police' }],
] as const)('refuses dispatch data at %s with 409 once the tow is over', async (path, body) => {
  const ref = await towAfter(app, 'started', 'released');
  const response = await api(app).post(towPath(ref, path)).send(body);
  expect([response.status, errorOf(response).code]).toEqual([409, 'tow_is_over']);
});

it.each([
  ['/assignment', 'crew', {}],
  ['/assignment', 'crew truck', { crew: '', truck: 'x'.repeat(101) }],
  ['/assignment', 'truck', { crew: null, truck: 'T-1' }],
  ['/assignment', 'colour truck', { crew: null, truck: 'T-1', colour: 'red' }],
  ['/assignment', 'crew', { crew: 7, truck: 'T-1' }],
  ['/assignment', 'body', []],
  ['/steps', 'step', {}],
  ['/steps', 'occurred_at step', { step: 'lunch', occurred_at: 7 }],
  ['/steps', 'occurred_at', { step: 'accepted', occurred_at: 'noon' }],
  ['/steps', 'occurred_at step', { occurred_at: 'noon' }],
  ['/steps', 'occurred_at step', { step: 'lunch', occurred_at: '2999-01-01T00:00:00Z' }],
  ['/steps', 'colour occurred_at', { step: 'accepted', occurred_at: 'noon', colour: 'red' }],
  ['/steps', 'body', []],
  ['/yard', 'slot yard', { slot: '' }],
  ['/notes', 'text', { text: 'x'.repeat(2001) }],
  ['/notes', 'colour', { text: 'x', colour: 'red' }],
] as const)('refuses dispatch data at %s with 422 and names the invalid fields: %s', async (path, fields, body) => {
  const ref = await towAfter(app, 'started');
  const { version } = await towOf(app, ref);
  const response = await api(app).post(towPath(ref, path)).send(body);
  expect([response.status, fieldsOf(response).join(' ')]).toEqual([422, fields]);
  expect((await towOf(app, ref)).version).toBe(version);
});

it('stores all notes of concurrent requests, and stores a step that all of them record once', async () => {
  const ref = await newTow(app);
  const notes = Array.from({ length: 8 }, (_, index) => `note ${index}`);
  const responses = await Promise.all([
    ...notes.map((text) => api(app).post(towPath(ref, '/notes')).send({ text })),
    ...notes.map(() => api(app).post(towPath(ref, '/steps')).send({ step: 'accepted' })),
  ]);
  expect(responses.filter(({ status }) => status === 202)).toHaveLength(9);
  const { dispatch } = await towOf(app, ref);
  expect(dispatch.notes.map(({ text }) => text).toSorted()).toEqual(notes);
  expect(dispatch.steps).toHaveLength(1);
});

it('writes no crew name and no note text to the log, the audit or the metrics', async () => {
  const words = [CREW, 'Salman', 'called his brother'];
  const metrics: string[] = [];
  const lines = await linesOf({ redisUrl: app.redis.url, role: 'console' }, async (own) => {
    const ref = await newTow(own);
    const send = (path: string, body: object) => api(own).post(towPath(ref, path)).send(body);
    await send('/assignment', { crew: CREW }).expect(202);
    await send('/assignment', { crew: CREW }).expect(409);
    await send('/assignment', { crew: CREW, truck: '' }).expect(422);
    await send('/notes', { text: 'called his brother' }).expect(202);
    metrics.push((await api(own).get('/metrics')).text);
  });
  const audit = JSON.stringify(await app.redis.ask('LRANGE', KEYS.audit, '0', '-1'));
  expect(audit).toContain('tow.assigned');
  for (const word of words) {
    expect(lines.join('\n')).not.toContain(word);
    expect(audit).not.toContain(word);
    expect(metrics.join('')).not.toContain(word);
  }
});

it('shows dispatch data to a viewer and refuses changes by a viewer with 403', async () => {
  const ref = await newTow(app);
  towIn(await api(app).post(towPath(ref, '/assignment')).send({ crew: CREW }));
  const apiKey = await newKey(app, 'viewer');
  expect(towIn(await api(app, apiKey).get(towPath(ref)), 200).dispatch.assignment?.crew).toBe(CREW);
  await api(app, apiKey).post(towPath(ref, '/notes')).send({ text: 'x' }).expect(403);
});

/** Places a hold and returns its id. */
async function hold(ref: string, reason = 'police'): Promise<string> {
  const { dispatch } = towIn(await api(app).post(towPath(ref, '/holds')).send({ reason }));
  return dispatch.holds.at(-1)?.id ?? '';
}

function lift(ref: string, id: string) {
  return api(app)
    .post(towPath(ref, `/holds/${id}/lift`))
    .send({ reason: 'settled' });
}

it('refuses payment and release of a tow on hold with 409, and names each hold, until all holds are lifted', async () => {
  const ref = await towAfter(app, 'started', 'detained', 'invoice');
  const ids = [await hold(ref), await hold(ref, 'owner disputes')];
  for (const fact of ['/payment', '/released']) {
    const response = await api(app).post(towPath(ref, fact)).send({});
    const { code, message, details } = errorOf(response);
    expect([response.status, code]).toEqual([409, 'on_hold']);
    expect(details.map(({ field }) => field)).toEqual(ids.map((id) => `holds.${id}`));
    for (const id of ids) expect(message).toContain(id);
  }
  towIn(await lift(ref, ids[0] ?? ''));
  expect(errorOf(await api(app).post(towPath(ref, '/payment')).send({})).details).toHaveLength(1);
  towIn(await lift(ref, ids[1] ?? ''));
  towIn(await api(app).post(towPath(ref, '/payment')).send({}));
  expect(towIn(await api(app).post(towPath(ref, '/released')).send({})).state).toBe('released');
});

it('refuses the release of a tow that was put on hold after its payment', async () => {
  const ref = await towAfter(app, 'started', 'invoice', 'payment');
  const id = await hold(ref);
  expect(errorOf(await api(app).post(towPath(ref, '/released')).send({})).code).toBe('on_hold');
  towIn(await lift(ref, id));
  expect(towIn(await api(app).post(towPath(ref, '/released')).send({})).state).toBe('released');
});

it('cancels a tow on hold, and lifts the hold after the tow is over', async () => {
  const ref = await towAfter(app, 'started');
  const id = await hold(ref);
  expect(towIn(await api(app).post(towPath(ref, '/canceled')).send({ cancellation_reason: 'gone' })).state).toBe(
    'canceled',
  );
  expect(towIn(await lift(ref, id)).dispatch.holds).toMatchObject([{ id, lifted: { reason: 'settled' } }]);
});

it('accepts exactly one of a hold and a release that are requested at the same time', async () => {
  for (let turn = 0; turn < 5; turn += 1) {
    const ref = await towAfter(app, 'started');
    const [placed, released] = await Promise.all([
      api(app).post(towPath(ref, '/holds')).send({ reason: 'police' }),
      api(app).post(towPath(ref, '/released')).send({}),
    ]);
    expect([placed.status, released.status].toSorted((a, b) => a - b)).toEqual([202, 409]);
    const { state, dispatch } = await towOf(app, ref);
    expect([state, dispatch.holds.length]).toEqual(placed.status === 202 ? ['started', 1] : ['released', 0]);
  }
});

it('audits the placing and the lifting of a hold with its id and reason', async () => {
  const ref = await towAfter(app, 'started');
  const desk = api(app, await newKey(app, 'dispatcher', 'desk'));
  let id = '';
  const entries = await entriesOf(app, async () => {
    const placed = towIn(await desk.post(towPath(ref, '/holds')).send({ reason: 'police' }));
    id = placed.dispatch.holds[0]?.id ?? '';
    towIn(await desk.post(towPath(ref, `/holds/${id}/lift`)).send({ reason: 'settled' }));
  });
  const on = { towing_reference_id: ref, hold_id: id };
  expect(entries).toMatchObject([
    { by: 'desk', action: 'tow.hold_lifted', on, why: 'settled', what: {} },
    { by: 'desk', action: 'tow.hold_placed', on, why: 'police', what: {} },
  ]);
  expect((await towOf(app, ref)).timeline.slice(-2)).toMatchObject([
    { type: 'tow.hold_placed', hold_id: id, reason: 'police', by: 'desk' },
    { type: 'tow.hold_lifted', hold_id: id, reason: 'settled', by: 'desk' },
  ]);
});

it('refuses to lift a hold that the tow does not have with 404, and one that is already lifted with 409', async () => {
  const ref = await towAfter(app, 'started');
  const other = await hold(await towAfter(app, 'started'));
  const missing = await lift(ref, other);
  expect([missing.status, errorOf(missing).code]).toEqual([404, 'hold_not_found']);
  const id = await hold(ref);
  towIn(await lift(ref, id));
  const again = await lift(ref, id);
  expect([again.status, errorOf(again).code]).toEqual([409, 'already_recorded']);
});
