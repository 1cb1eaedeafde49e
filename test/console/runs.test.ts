import { messagesIn } from '../../src/console/messages';
import { rivalRequestTask, TASK_TYPES } from '../../src/domain/ops/tasks';
import { openRunHandler } from '../../src/main/handlers';
import { newKey, towOf } from '../operator/client';
import { newTow } from '../operator/world';
import { useApp } from '../support/app';
import { startElsewhere, startRunWorker } from '../support/run-worker';
import { eventually } from '../support/eventually';
import { decideBy, openIds, openOn, refusedTow } from './task-world';
import { signedIn, textOf, type Visitor } from './visitor';

let worker: ReturnType<typeof startRunWorker> | undefined;
// Hooks run in the order they are declared: the worker stops before the console does.
afterAll(() => worker?.stop());
const app = useApp({ role: 'console' });
beforeAll(() => {
  worker = startRunWorker(app.foundation, openRunHandler(app.foundation));
});
const messages = messagesIn('en').runs;

async function refusedTows(count: number) {
  const made: Awaited<ReturnType<typeof refusedTow>>[] = [];
  for (let each = 0; each < count; each += 1) made.push(await refusedTow(app));
  return made;
}
const dispatcher = async () => signedIn(app, await newKey(app, 'dispatcher'));

/** Submits the bulk form of a task list with these tasks ticked. */
async function choose(
  visitor: Visitor,
  fields: Readonly<Record<string, string>>,
  { list = '/tasks', chosen = [] }: { list?: string; chosen?: readonly string[] } = {},
) {
  const { html } = await visitor.get(list);
  const form = new URLSearchParams({ bulk: 'preview', scope: 'ticked', ...fields });
  for (const id of chosen) form.append('chosen', id);
  for (const [, id = ''] of html.matchAll(/name="shown" value="([^"]*)"/g)) form.append('shown', id);
  return visitor.post(list, form);
}

/** Creates a preview of a run; returns its path and page. */
async function previewed(visitor: Visitor, ...asked: [Parameters<typeof choose>[1], Parameters<typeof choose>[2]?]) {
  const response = await choose(visitor, ...asked);
  if (response.location === null) throw new Error(`the preview returned ${response.status}: ${textOf(response.html)}`);
  return { path: response.location, preview: await visitor.get(response.location) };
}

const runWhen = (visitor: Visitor, path: string, state: keyof typeof messages.about) =>
  eventually(async () => {
    const response = await visitor.get(path);
    expect(textOf(response.html)).toContain(messages.about[state]);
    return response;
  });

/** Stores that a worker elsewhere carries out a run. */
async function isElsewhere(path: string) {
  await startElsewhere(app.foundation, path.split('/').at(-1) ?? '');
}

const stateOf = async (ref: string) => (await towOf(app, ref)).reports[0]?.state;

describe('console: bulk selection', () => {
  test('previews a bulk decision for each selected task and changes nothing', async () => {
    const [first, second] = await refusedTows(2);
    const rival = await openOn(app, await newTow(app), rivalRequestTask);
    const before = await openIds(app);
    const visitor = await dispatcher();
    const chosen = [first?.taskId ?? '', rival, second?.taskId ?? ''];
    const { preview } = await previewed(visitor, { action: 'retry' }, { chosen });
    const text = textOf(preview.html);
    expect(text).toContain('Send again: 3 tasks');
    expect(text).toContain('2 are possible · 1 cannot');
    expect(text).toContain(messages.nothingYet);
    expect(text).toContain('Not possible This decision does not apply to the task. nothing_to_decide');
    expect(text.match(/Possible /g)).toHaveLength(3);
    expect(await openIds(app)).toEqual(before);
    expect(await stateOf(first?.ref ?? '')).toBe('refused');
  });

  test.each([
    ['no ticked task', '/tasks', { scope: 'ticked' }],
    ['an empty filter', '/tasks', { scope: 'filter' }],
    ['no scope', '/tasks', {}],
  ])('refuses a bulk decision with %s with 422 instead of applying it to every task', async (_name, list, fields) => {
    const [made] = await refusedTows(1);
    const visitor = await dispatcher();
    const response = await choose(visitor, { action: 'retry', ...fields }, { list });
    expect(response.status).toBe(422);
    expect(textOf(response.html)).toContain('No task is selected.');
    expect(response.html).toMatch(/<details class="tasks-bulk" id="bulk-bar" open/);
    expect(await stateOf(made?.ref ?? '')).toBe('refused');
    await visitor.post('/preferences', { language: 'ar' });
    expect(textOf((await choose(visitor, { action: 'retry', ...fields }, { list })).html)).toContain('التصفية الفارغة');
  });

  test('selects all tasks of the page or all tasks of the filter for a bulk decision', async () => {
    await refusedTows(2);
    await openOn(app, await newTow(app), rivalRequestTask);
    const visitor = await dispatcher();
    const list = '/tasks?type=report_refused';
    const page = await previewed(visitor, { action: 'retry', scope: 'page' }, { list });
    expect(textOf(page.preview.html)).toContain('Send again: 2 tasks');
    const filter = await previewed(visitor, { action: 'retry', scope: 'filter' }, { list });
    expect(textOf(filter.preview.html)).toContain('Send again: 2 tasks');
  });

  test('offers a bulk decision on all filtered tasks only when a filter is set', async () => {
    await refusedTows(1);
    const visitor = await dispatcher();
    expect((await visitor.get('/tasks')).html).not.toContain('value="filter"');
    expect((await visitor.get('/tasks?kind=started')).html).toContain('value="filter"');
  });

  test('refuses a bulk decision with 422 when no open task matches the filter', async () => {
    const visitor = await dispatcher();
    for (const type of TASK_TYPES.slice(0, 2)) {
      const response = await choose(visitor, { action: 'retry', scope: 'filter' }, { list: `/tasks?type=${type}` });
      expect(response.status).toBe(422);
      expect(textOf(response.html)).toContain('No open task matches');
    }
  });

  test('refuses to waive in bulk without a reason and keeps the reason after another error', async () => {
    const [made] = await refusedTows(1);
    const visitor = await dispatcher();
    const without = await choose(visitor, { action: 'waive' }, { chosen: [made?.taskId ?? ''] });
    expect(without.status).toBe(422);
    expect(without.html).toMatch(/id="bulk-reason"[^>]*aria-invalid="true"/);
    const nothing = await choose(visitor, { action: 'waive', reason: 'all of them' });
    expect(nothing.html).toMatch(/id="bulk-reason"[^>]*value="all of them"/);
  });
});

describe('console: bulk run', () => {
  test('decides each task of a run and shows the result of each', async () => {
    const made = await refusedTows(3);
    const visitor = await dispatcher();
    const { path } = await previewed(visitor, { action: 'waive', reason: 'all of them', scope: 'page' });
    await decideBy(await dispatcher(), { id: made[1]?.taskId ?? '', decision: 'retry' });
    const started = await visitor.post(path, { act: 'start' });
    expect(started.location).toBe(path);
    const done = textOf((await runWhen(visitor, path, 'done')).html);
    expect(done).toContain('3 of 3');
    expect(done).toContain('Done 2');
    expect(done).toContain('No longer open 1');
    expect(done).toContain('asked_no_more');
    expect(await Promise.all(made.map(({ ref }) => stateOf(ref)))).toEqual(['waived', 'pending', 'waived']);
    expect(textOf((await visitor.get(`${path}?outcome=gone`)).html)).toContain(made[1]?.ref);
    expect(textOf((await visitor.get(`${path}?outcome=gone`)).html)).not.toContain(made[0]?.ref);
  });

  test('refreshes a running run every second, or by a link without scripts', async () => {
    await refusedTows(2);
    const visitor = await dispatcher();
    const { path } = await previewed(visitor, { action: 'retry', scope: 'page' });
    await isElsewhere(path);
    const response = await visitor.get(path);
    expect(response.html).toContain('hx-trigger="every 1s"');
    expect(response.html).toMatch(/<progress[^>]* value="0" max="2"[^>]*aria-valuetext="0 of 2"/);
    expect(response.html).toMatch(/<noscript><a class="button" href="[^"]+">Refresh/);
    const part = await visitor.get(path, { 'hx-request': 'true' });
    expect(part.html).toMatch(/^<div id="run"/);
  });

  test('skips the remaining tasks of a run after an abort', async () => {
    const made = await refusedTows(2);
    const visitor = await dispatcher();
    const { path } = await previewed(visitor, { action: 'retry', scope: 'page' });
    await isElsewhere(path);
    await visitor.post(path, { act: 'abort' });
    const aborted = await runWhen(visitor, path, 'aborted');
    expect(textOf(aborted.html)).toContain('0 of 2');
    expect(aborted.html).not.toContain('hx-trigger="every 1s"');
    expect(textOf(aborted.html).match(/ Skipped/g)).toHaveLength(2);
    expect(await stateOf(made[0]?.ref ?? '')).toBe('refused');
  });

  test('lets only its creator or ops start a run', async () => {
    await refusedTows(1);
    const [chooser, other] = [await dispatcher(), await dispatcher()];
    const { path } = await previewed(chooser, { action: 'retry', scope: 'page' });
    const response = await other.get(path);
    expect(response.html).not.toContain('value="start"');
    expect(textOf(response.html)).toContain('can start it');
    expect((await other.post(path, { act: 'start' })).status).toBe(403);
    const ops = await signedIn(app);
    expect((await ops.get(path)).html).toContain('value="start"');
    await ops.post(path, { act: 'start' });
    await runWhen(ops, path, 'done');
  });

  test('answers 409 when a finished run is started again', async () => {
    await refusedTows(1);
    const visitor = await dispatcher();
    const { path } = await previewed(visitor, { action: 'retry', scope: 'page' });
    await visitor.post(path, { act: 'start' });
    await runWhen(visitor, path, 'done');
    const again = await visitor.post(path, { act: 'start' });
    expect(again.status).toBe(409);
    expect(textOf(again.html)).toContain('This run is complete.');
  });

  test('shows a run to a viewer without actions and refuses to start it with 403', async () => {
    await refusedTows(1);
    const { path } = await previewed(await dispatcher(), { action: 'retry', scope: 'page' });
    const viewer = await signedIn(app, await newKey(app, 'viewer'));
    expect((await viewer.get(path)).html).not.toContain('name="act"');
    expect((await viewer.post(path, { act: 'start' })).status).toBe(403);
  });

  test('answers 404 with a hint for an unknown bulk run', async () => {
    const response = await (await dispatcher()).get('/runs/no-such-run');
    expect(response.status).toBe(404);
    expect(textOf(response.html)).toContain(messages.missing.hint);
  });
});

test('lists recent bulk runs or explains that there are none', async () => {
  await refusedTows(1);
  const visitor = await dispatcher();
  expect(textOf((await visitor.get('/runs')).html)).toContain(messages.noRuns.title);
  const { path } = await previewed(visitor, { action: 'retry', scope: 'page' });
  const { html } = await visitor.get('/runs');
  expect(html).toContain(`href="${path}" data-row-link`);
  expect(html).toContain('data-watch="runs"');
});
