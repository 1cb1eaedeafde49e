import { taskView } from '../../src/contracts/operator';
import { page } from '../../src/contracts/paging';
import { useApp } from '../support/app';
import { api, errorOf, newKey, towIn, towOf, towPath } from './client';
import { answerHead, deliver, newTow, towAfter, WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });

async function tasks(query: Readonly<Record<string, string>> = {}) {
  const response = await api(app).get('/api/tasks').query(query);
  return page(taskView).parse(response.body).items;
}

const resolve = (id: string | undefined, body: object = {}, apiKey = app.apiKey) =>
  api(app, apiKey).post(`/api/tasks/${id}/resolve`).send(body);

async function towWithRival(): Promise<string> {
  const ref = await newTow(app);
  await deliver(app, 'tow_request', { violation_reference_id: 'V-other', towing_reference_id: ref });
  return ref;
}

it('lists a task with its tow, its type and its actions', async () => {
  const rival = await towWithRival();
  const refused = await towAfter(app, 'started');
  const reportId = await answerHead(app, refused, 'refused');
  expect(await tasks()).toMatchObject([
    { type: 'report_refused', towing_reference_id: refused, report_id: reportId, http_status: 400 },
    { type: 'rival_request', towing_reference_id: rival, actions: ['resolve'], report: null },
  ]);
  const [, open] = await tasks();
  expect(open?.tow).toEqual({ state: 'requested', plate_number: null });
  const {
    report: _none,
    violation: _nothing,
    tow: _tow,
    ...listed
  } = { report: null, violation: null, tow: null, ...open };
  expect((await towOf(app, rival)).tasks).toEqual([listed]);
});

it('shows in a task about a report what was sent and what the service answered', async () => {
  const ref = await towAfter(app, 'started');
  await answerHead(app, ref, 'refused');
  const [open] = await tasks();
  expect(open?.report).toMatchObject({
    kind: 'started',
    state: 'refused',
    body: { towing_reference_id: ref, plate_number: WHEREABOUTS.plate_number },
    last_error: { http_status: 400, message: 'Missing required field' },
    attempts: 1,
  });
});

it('closes an informational task when it is resolved and records by whom in the timeline of the tow', async () => {
  const ref = await towWithRival();
  const [open] = await tasks();
  const dispatcher = await newKey(app, 'dispatcher', 'day shift');
  const response = await resolve(open?.id, {}, dispatcher).expect(202);
  expect(response.body).toEqual(open);
  expect(await tasks()).toEqual([]);
  const tow = await towOf(app, ref);
  expect(tow.tasks).toEqual([]);
  expect(tow.timeline.at(-1)).toMatchObject({ type: 'task.resolved', by: 'day shift' });
});

it('records the reason for resolving a task in the timeline of the tow', async () => {
  const ref = await towWithRival();
  const [open] = await tasks();
  await resolve(open?.id, { reason: 'asked them by phone' });
  expect((await towOf(app, ref)).timeline.at(-1)).toMatchObject({
    type: 'task.resolved',
    reason: 'asked them by phone',
  });
});

it('refuses to resolve a task a second time with 404', async () => {
  await towWithRival();
  const [open] = await tasks();
  await resolve(open?.id).expect(202);
  const again = await resolve(open?.id).expect(404);
  expect(errorOf(again).code).toBe('task_not_found');
});

it('closes a task about a report by a decision on the report and refuses to resolve it with 409', async () => {
  const ref = await towAfter(app, 'started');
  const reportId = await answerHead(app, ref, 'refused');
  const [open] = await tasks();
  const response = await resolve(open?.id).expect(409);
  expect(errorOf(response).code).toBe('decision_needed');
  expect(await tasks()).toEqual([open]);
  towIn(
    await api(app)
      .post(towPath(ref, `/reports/${reportId}/retry`))
      .send({}),
  );
  expect(await tasks()).toEqual([]);
});

it('opens one task for repeated rival requests of a tow', async () => {
  const ref = await towWithRival();
  await deliver(app, 'tow_request', { violation_reference_id: 'V-third', towing_reference_id: ref });
  expect(await tasks()).toHaveLength(1);
});

it('lists tasks newest first, oldest first on request, and filtered by type', async () => {
  const rival = await towWithRival();
  const refused = await towAfter(app, 'started');
  await answerHead(app, refused, 'refused');
  const typesIn = async (query: Readonly<Record<string, string>> = {}) =>
    (await tasks(query)).map(({ type, towing_reference_id }) => [type, towing_reference_id]);

  expect(await typesIn()).toEqual([
    ['report_refused', refused],
    ['rival_request', rival],
  ]);
  expect(await typesIn({ order: 'oldest' })).toEqual([
    ['rival_request', rival],
    ['report_refused', refused],
  ]);
  expect(await typesIn({ type: 'rival_request' })).toEqual([['rival_request', rival]]);
  expect(await typesIn({ type: 'late_request' })).toEqual([]);
  await api(app).get('/api/tasks?order=sideways').expect(422);
});

it.each(['', 'report_refusd'])('refuses to list tasks of the unknown type "%s", and names the types', async (type) => {
  const response = await api(app).get('/api/tasks').query({ type }).expect(422);
  const [{ field, rule } = { field: '', rule: '' }] = errorOf(response).details;
  expect(field).toBe('type');
  expect(rule).toMatch(/^must be one of report_refused, report_unknown, /);
});
