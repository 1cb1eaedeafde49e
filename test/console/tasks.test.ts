import { refusedTask } from '../../src/domain/outbox/escalate-entry';
import { messagesIn } from '../../src/console/messages';
import { taskView } from '../../src/contracts/operator';
import { page } from '../../src/contracts/paging';
import { TASK_TYPES, pausedOperationTask, rivalRequestTask, webhookElsewhereTask } from '../../src/domain/ops/tasks';
import { towKey, violationKey } from '../../src/store/keys';
import { newTow, newViolation } from '../operator/world';
import { api, newKey } from '../operator/client';
import { useApp } from '../support/app';
import { closeGeneral, hiddenOf, ONE_OF_EACH, openGeneral, openOn, refusedTow, rowOf } from './task-world';
import { signedIn, textOf } from './visitor';

const app = useApp({ role: 'console' });

/** The titles of the rows, in display order. */
const titlesIn = (html: string) => [...html.matchAll(/<h2 id="task-\w+-title">([^<]*)/g)].map(([, title]) => title);
const refsIn = (html: string) =>
  [...html.matchAll(/href="\/tows\/([^"]+)" data-row-link/g)].map(([, ref = '']) => decodeURIComponent(ref));

describe('console: task texts', () => {
  test('covers every task type in the tests of the task texts', () => {
    expect(new Set(ONE_OF_EACH.map(({ type }) => type))).toEqual(new Set(TASK_TYPES));
  });

  test.each(ONE_OF_EACH)('explains a task of type $type and its remedy in both languages', async (task) => {
    const id = await openGeneral(app, task);
    const visitor = await signedIn(app);
    const english = textOf(rowOf(await visitor.get('/tasks'), id));
    await visitor.post('/preferences', { language: 'ar' });
    const arabic = rowOf(await visitor.get('/tasks'), id);

    for (const [language, text] of [
      ['en', english],
      ['ar', textOf(arabic)],
    ] as const) {
      const { chip, advice } = messagesIn(language).taskTypes.types[task.type];
      expect(text).toContain(advice);
      expect(chip).not.toBe('');
      expect(text).not.toContain('undefined');
    }
    expect(textOf(arabic)).toMatch(/[\u0600-\u06FF]{3}/);
    // The API message stays unchanged and is marked as English.
    expect(english).toContain(task.message.replaceAll(/\s+/g, ' '));
    expect(arabic).toContain('lang="en"');
  });
});

describe('console: task list', () => {
  test.each([
    ['a tow', async () => towKey((await refusedTow(app)).ref)],
    [
      'a violation',
      async () => {
        const id = await newViolation(app);
        await openGeneral(app, refusedTask({ kind: 'violation', id, httpStatus: 400, message: null, hint: null }));
        return violationKey(id);
      },
    ],
  ])(
    'lists a task about %s that the process cannot use, on the page and in the API, without it',
    async (_about, open) => {
      await app.redis.ask('HSET', await open(), 'later', 'aes:1:lost:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA');

      const answer = await api(app).get('/api/tasks').expect(200);
      const { html } = await (await signedIn(app)).get('/tasks');

      expect(page(taskView).parse(answer.body).items).toMatchObject([{ report: null, violation: null }]);
      expect(titlesIn(html)).toHaveLength(1);
    },
  );

  test('lists the oldest task first, or the newest on request', async () => {
    const { ref: first } = await refusedTow(app);
    const { ref: second } = await refusedTow(app);
    const visitor = await signedIn(app);
    expect(refsIn((await visitor.get('/tasks')).html)).toEqual([first, second]);
    expect(refsIn((await visitor.get('/tasks?order=newest')).html)).toEqual([second, first]);
  });

  test('shows a refused report with plate, error text of the service and masked request body', async () => {
    const { ref, taskId } = await refusedTow(app);
    const visitor = await signedIn(app);
    const row = rowOf(await visitor.get('/tasks'), taskId);
    const text = textOf(row);
    expect(text).toContain('The service refused the report “Started”');
    expect(text).toContain(ref);
    expect(text).toContain('A B J 1234');
    expect(text).toContain('ا ب ح ١٢٣٤');
    expect(text).toContain('HTTP 400: Missing required field');
    const sent = /<pre[^>]*>([^]*?)<\/pre>/.exec(row)?.[1] ?? '';
    expect(sent).toContain('towed_location');
    expect(sent).not.toContain('ABJ');
  });

  test('shows the error text of the service once per task', async () => {
    const { taskId } = await refusedTow(app);
    const row = rowOf(await (await signedIn(app)).get('/tasks'), taskId);
    expect(textOf(row).split('Missing required field')).toHaveLength(2);
  });

  test('leads to the bulk decision form of the task list by a link that does not load the page again', async () => {
    await refusedTow(app);
    const { html } = await (await signedIn(app)).get('/tasks?order=newest');
    expect(html).toContain('<a href="#bulk" data-open-bulk');
    expect(html).toMatch(/<details class="tasks-bulk" id="bulk-bar" data-[^>]*><summary>[^]*<form [^>]*id="bulk"/);
  });

  test('explains in a task that an earlier attempt may have succeeded', async () => {
    const id = await newViolation(app);
    const task = { id, httpStatus: 400, message: 'no', hint: 'perhaps_already_accepted' } as const;
    const taskId = await openGeneral(app, refusedTask({ ...task, kind: 'violation' }));
    const visitor = await signedIn(app);
    expect(textOf(rowOf(await visitor.get('/tasks'), taskId))).toContain('may have succeeded. Check at the service');
  });

  test('links the task about webhooks on another path to the list of such calls', async () => {
    const taskId = await openGeneral(app, webhookElsewhereTask);
    const row = rowOf(await (await signedIn(app)).get('/tasks'), taskId);
    expect([...row.matchAll(/<a href="([^"]+)"/g)].map(([, address]) => address)).toEqual([
      '/ops/deliveries?other=true',
    ]);
  });

  test('explains an empty task list', async () => {
    const visitor = await signedIn(app);
    expect(textOf((await visitor.get('/tasks')).html)).toContain('No open tasks');
    expect(textOf((await visitor.get('/tasks?type=late_invoice')).html)).toContain(
      'No open task matches these filters',
    );
  });

  test('filters the task list by task type, report kind and tow and shows counts', async () => {
    const refused = await refusedTow(app);
    const other = await newTow(app);
    await openOn(app, other, rivalRequestTask);
    await openGeneral(app, pausedOperationTask('invoice', 'no'));
    const visitor = await signedIn(app);
    const all = await visitor.get('/tasks');
    expect(titlesIn(all.html)).toHaveLength(3);
    expect(textOf(all.html)).toContain('All 3');
    expect(textOf(all.html)).toContain('Report refused 1');

    const narrowed = async (query: string) => titlesIn((await visitor.get(`/tasks?${query}`)).html);
    expect(await narrowed('type=report_refused')).toEqual(['The service refused the report “Started”']);
    expect(await narrowed('kind=invoice')).toEqual(['The service forbids the operation “Invoice”']);
    expect(await narrowed('kind=started')).toEqual(['The service refused the report “Started”']);
    expect(await narrowed(`tow=${other}`)).toEqual(['The service requested this tow again, with other data']);
    expect(await narrowed(`tow=${refused.ref}&type=rival_request`)).toEqual([]);
    // An unknown filter value is ignored.
    expect(await narrowed('type=nonsense')).toHaveLength(3);
  });

  test('splits the task list into pages', async () => {
    const refs: string[] = [];
    for (let made = 0; made < 27; made += 1) refs.push(await newTow(app));
    for (const ref of refs) await openOn(app, ref, rivalRequestTask);
    const visitor = await signedIn(app);
    const first = await visitor.get('/tasks?type=rival_request');
    const next = /rel="next" href="([^"]+)"/.exec(first.html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = await visitor.get(next);
    expect([...refsIn(first.html), ...refsIn(second.html)]).toEqual(refs);
    expect(refsIn(first.html)).toHaveLength(25);
    expect(second.html).toContain('href="/tasks?type=rival_request"');
  });
});

describe('console: roles that may decide tasks', () => {
  test.each(['viewer', 'crew'] as const)(
    'shows a %s the role needed to decide tasks and offers no form',
    async (role) => {
      const { taskId } = await refusedTow(app);
      const visitor = await signedIn(app, await newKey(app, role));
      const response = await visitor.get('/tasks');
      expect(textOf(response.html)).toContain('Decisions require the role dispatcher.');
      expect(hiddenOf(rowOf(response, taskId), 'retry')).toEqual({});
      expect(response.html).not.toContain('name="chosen"');
      expect((await visitor.post('/tasks', { decision: 'retry', task: taskId })).status).toBe(403);
    },
  );

  test('offers to resume an operation to ops only', async () => {
    const id = await openGeneral(app, pausedOperationTask('invoice', 'no'));
    const dispatcher = await signedIn(app, await newKey(app, 'dispatcher'));
    expect(textOf(rowOf(await dispatcher.get('/tasks'), id))).toContain('Decisions require the role ops.');
    const ops = await signedIn(app);
    expect(hiddenOf(rowOf(await ops.get('/tasks'), id), 'resume')).toMatchObject({ operation: 'invoice' });
  });
});

describe('console: open task count', () => {
  test('shows the number of open tasks in the navigation and refreshes it separately', async () => {
    const visitor = await signedIn(app);
    const beside = async (path: string) =>
      textOf(/<span id="open-tasks"[^]*?<\/a>/.exec((await visitor.get(path)).html)?.[0] ?? '');
    expect(await beside('/board')).toBe('');
    await refusedTow(app);
    const id = await openGeneral(app, pausedOperationTask('invoice', 'no'));
    expect(await beside('/board')).toBe('2 open');
    await closeGeneral(app, id);
    const count = await visitor.get('/tasks/count', { 'hx-request': 'true' });
    expect(textOf(count.html)).toBe('1 open');
    expect(count.html).toContain('data-watch="tasks"');
    expect(count.html).not.toContain('<html');
  });
});
