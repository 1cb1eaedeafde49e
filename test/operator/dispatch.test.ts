import { jsonObject } from '../../src/contracts/common';
import { NO_DISPATCH } from '../../src/domain/dispatch';
import { KEYS, towKey } from '../../src/store/keys';
import { linesOf } from '../support/captured-log';
import { useApp } from '../support/app';
import { entriesOf } from './audited';
import { errorOf, fieldsOf, get, newKey, post, towIn, towOf, towPath } from './client';
import { newTow, towAfter, WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });
const CREW = 'Salman al-Harbi';
const ANY_TEXT: unknown = expect.any(String);

const asDesk = async () => ({ apiKey: await newKey(app, 'dispatcher', 'desk') });
const by = { by: 'desk', by_id: ANY_TEXT, role: 'dispatcher' };

describe('what is told is kept with the tow, on its timeline and in the audit, and owes no report', () => {
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
            occurred_at: '2024-11-20T08:00:00.000Z',
            recorded_at: ANY_TEXT,
            by: 'desk',
          },
        ],
      },
      { type: 'tow.step_recorded', step: 'en_route', occurred_at: '2024-11-20T08:00:00.000Z' },
      { action: 'tow.step_recorded', what: { step: 'en_route', occurred_at: '2024-11-20T08:00:00.000Z' } },
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
  ] as const)('%s', async (path, body, kept, told, audited) => {
    const ref = await towAfter(app, 'started');
    const who = await asDesk();
    const before = await towOf(app, ref);
    const entries = await entriesOf(app, async () => {
      const after = towIn(await post(app, towPath(ref, `/${path}`), body, who));
      expect(after).toEqual({
        ...before,
        version: before.version + 1,
        dispatch: { ...before.dispatch, ...kept },
        timeline: [...before.timeline, { ...told, by: 'desk', at: ANY_TEXT }],
      });
    });
    expect(entries).toEqual([{ ...by, on: { towing_reference_id: ref }, why: null, ...audited }]);
    expect(await towOf(app, ref)).toMatchObject({ dispatch: kept });
  });

  it('an assignment taken back', async () => {
    const ref = await newTow(app);
    const who = await asDesk();
    towIn(await post(app, towPath(ref, '/assignment'), { crew: CREW }, who));
    const entries = await entriesOf(app, async () => {
      const tow = towIn(await post(app, towPath(ref, '/assignment'), { crew: null }, who));
      expect(tow.dispatch.assignment).toBeNull();
      expect(tow.timeline.at(-1)).toMatchObject({ type: 'tow.unassigned', crew: null, by: 'desk' });
    });
    expect(entries).toMatchObject([{ ...by, action: 'tow.unassigned', what: {} }]);
  });
});

it('a tow goes its whole way without any of it', async () => {
  const ref = await towAfter(app, 'started', 'detained', 'invoice', 'payment', 'released');
  const { dispatch, reports } = await towOf(app, ref);
  expect(dispatch).toEqual(NO_DISPATCH);
  expect(reports.map(({ kind }) => kind)).toEqual(['started', 'detained', 'invoice', 'payment', 'released']);
});

it('what is told stays with the tow on its way, and what is not told stays as it was', async () => {
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
    towIn(await post(app, towPath(ref, path), body));
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
] as const)('a tow that is over refuses it 409: %s', async (path, body) => {
  const ref = await towAfter(app, 'started', 'released');
  const answer = await post(app, towPath(ref, path), body);
  expect([answer.status, errorOf(answer).code]).toEqual([409, 'tow_is_over']);
});

it.each([
  ['/assignment', 'crew', {}],
  ['/assignment', 'crew truck', { crew: '', truck: 'x'.repeat(101) }],
  ['/assignment', 'truck', { crew: null, truck: 'T-1' }],
  ['/steps', 'step', {}],
  ['/steps', 'occurred_at step', { step: 'lunch', occurred_at: 7 }],
  ['/steps', 'occurred_at', { step: 'accepted', occurred_at: 'noon' }],
  ['/yard', 'slot yard', { slot: '' }],
  ['/notes', 'text', { text: 'x'.repeat(2001) }],
  ['/notes', 'colour', { text: 'x', colour: 'red' }],
] as const)('%s is refused 422 and names what breaks a rule: %s', async (path, fields, body) => {
  const ref = await towAfter(app, 'started');
  const { version } = await towOf(app, ref);
  const answer = await post(app, towPath(ref, path), body);
  expect([answer.status, fieldsOf(answer).join(' ')]).toEqual([422, fields]);
  expect((await towOf(app, ref)).version).toBe(version);
});

it('what many tell at once is all kept, and a step of theirs once', async () => {
  const ref = await newTow(app);
  const notes = Array.from({ length: 8 }, (_, index) => `note ${index}`);
  const answers = await Promise.all([
    ...notes.map((text) => post(app, towPath(ref, '/notes'), { text })),
    ...notes.map(() => post(app, towPath(ref, '/steps'), { step: 'accepted' })),
  ]);
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(9);
  const { dispatch } = await towOf(app, ref);
  expect(dispatch.notes.map(({ text }) => text).toSorted()).toEqual(notes);
  expect(dispatch.steps).toHaveLength(1);
});

it('the name of a crew and the words of a note reach neither log, audit nor metrics', async () => {
  const words = [CREW, 'Salman', 'called his brother'];
  const metrics: string[] = [];
  const lines = await linesOf({ redisUrl: app.redis.url, role: 'console' }, async (own) => {
    const ref = await newTow(own);
    const send = (path: string, body: unknown) => post(own, towPath(ref, path), body);
    expect((await send('/assignment', { crew: CREW })).status).toBe(202);
    expect((await send('/assignment', { crew: CREW })).status).toBe(409);
    expect((await send('/assignment', { crew: CREW, truck: '' })).status).toBe(422);
    expect((await send('/notes', { text: 'called his brother' })).status).toBe(202);
    metrics.push(await (await fetch(`${own.consoleUrl}/metrics`)).text());
  });
  const audit = JSON.stringify(await app.redis.ask('LRANGE', KEYS.audit, '0', '-1'));
  expect(audit).toContain('tow.assigned');
  for (const word of words) {
    expect(lines.join('\n')).not.toContain(word);
    expect(audit).not.toContain(word);
    expect(metrics.join('')).not.toContain(word);
  }
});

it('a tow stored by a version that kept nothing of it is read as if nothing was told', async () => {
  const ref = await towAfter(app, 'started');
  const stored = String(await app.redis.ask('HGET', towKey(ref), 'document'));
  const { dispatch: _dispatch, ...older } = jsonObject.parse(JSON.parse(stored));
  await app.redis.ask('HSET', towKey(ref), 'document', JSON.stringify(older));
  expect((await towOf(app, ref)).dispatch).toEqual(NO_DISPATCH);
  expect(towIn(await post(app, towPath(ref, '/yard'), { yard: 'North' })).dispatch.yard?.yard).toBe('North');
});

it('what is told is shown to a viewer, who may change none of it', async () => {
  const ref = await newTow(app);
  towIn(await post(app, towPath(ref, '/assignment'), { crew: CREW }));
  const apiKey = await newKey(app, 'viewer');
  expect(towIn(await get(app, towPath(ref), { apiKey }), 200).dispatch.assignment?.crew).toBe(CREW);
  expect((await post(app, towPath(ref, '/notes'), { text: 'x' }, { apiKey })).status).toBe(403);
});
