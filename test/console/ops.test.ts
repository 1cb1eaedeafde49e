import { rivalRequestTask } from '../../src/domain/ops/tasks';
import { messagesIn } from '../../src/console/messages';
import { createProcessStore } from '../../src/store/ops/processes';
import { budgetStateField, KEYS } from '../../src/store/keys';
import { systemClock } from '../../src/platform/clock';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { beatingProcess, NOTHING } from '../support/processes';
import { api, newKey } from '../operator/client';
import { openGeneral } from './task-world';
import { signedIn, textOf } from './visitor';

const app = useApp();
const { ops, opsAlarms, opsCharts, webhooks } = messagesIn('en');

// On a busy machine the process may just be connecting to Redis again.
beforeEach(() => eventually(() => app.sendHeartbeat()));

/** Stores the metrics of the minute that began `minutesAgo` full minutes before the current one. */
async function counted(minutesAgo: number, figures: Readonly<Record<string, number>>): Promise<void> {
  const minute = Math.floor(systemClock.nowMs() / 60_000) - minutesAgo;
  await app.foundation.redis.hset(`${KEYS.metrics}:${minute}`, { lived: 1, ...figures });
}

/**
 * Runs an action on no metrics but its own, and returns its result. Runs it again if a minute ended meanwhile: the charts
 * show full minutes only, so heartbeats of the ended minute appear and all rows move.
 */
async function onOwnMetrics<T>(action: () => Promise<T>): Promise<T> {
  const { redis } = app.foundation;
  const minute = () => Math.floor(systemClock.nowMs() / 60_000);
  for (;;) {
    const startMinute = minute();
    for (const key of await redis.keys(`${KEYS.metrics}:*`)) await redis.del(key);
    const result = await action();
    if (minute() === startMinute) return result;
  }
}

const auditText = async () => (await api(app).get('/api/audit')).text;

describe('console: operations overview', () => {
  test('states in one sentence on the operations page that there is no alarm', async () => {
    const { status, html } = await (await signedIn(app)).get('/ops');
    expect(status).toBe(200);
    expect(html).toMatch(/<p class="verdict-title" role="status">Everything works\.<\/p>/);
    const text = textOf(html);
    for (const title of [ops.sending.title, ops.conservation.title, ops.queues.title, ops.processes.title]) {
      expect(text).toContain(title);
    }
    expect(text).toContain(`${ops.processes.roles.all} ${ops.processes.alive}`);
  });

  test('shows the number of open tasks on the operations page, as an alarm', async () => {
    const visitor = await signedIn(app);
    expect((await visitor.get('/ops')).html).not.toContain('See: Tasks');
    await openGeneral(app, rivalRequestTask);
    const { html } = await visitor.get('/ops');
    expect(textOf(html)).toContain('1 open task waits for a person.');
    expect(html).toContain(`<p>1 task is open. <a href="/tasks">See: Tasks</a></p>`);
  });

  test('warns on the operations page when most recent attempts failed', async () => {
    await counted(1, { 'attempts.refused': 60, 'attempts.failed': 60, 'delivered.started': 10 });
    const { html } = await (await signedIn(app)).get('/ops');
    expect(html).toContain('class="card verdict wait"');
    expect(textOf(html)).toContain(opsAlarms.attemptsFail.title({ failed: 120, made: 130 }));
  });

  test('warns on the operations page when half of the webhooks are refused, and names the likely cause', async () => {
    await counted(0, { 'answers.signature_wrong': 20, 'answers.accepted': 15, 'answers.address': 500 });
    const text = textOf((await (await signedIn(app)).get('/ops')).html);
    const { cause, todo } = webhooks.reasons.signature_wrong;
    expect(text).toContain(opsAlarms.webhooksMostlyRefused.title({ refused: 20, made: 35, cause }));
    expect(text).toContain(todo);
  });

  test('warns on the operations page when no webhook has arrived for many usual intervals', async () => {
    const hour = Math.floor(systemClock.nowMs() / 3_600_000);
    const hours = new Map(Array.from({ length: 52 }, (_, ago) => [hour - 2 - ago, 60]));
    const acceptedAt = systemClock.nowMs() - 2 * 3_600_000;
    await app.foundation.redis.hset(KEYS.webhookHours, hours);
    await app.foundation.redis.hset(
      KEYS.webhookAnswers,
      'tow_request',
      JSON.stringify({ acceptedAtMs: acceptedAt, refused: {} }),
    );
    const text = textOf((await (await signedIn(app)).get('/ops')).html);
    expect(text).toContain('No webhook has arrived for 2 h. At these hours one usually arrives every 1 min.');
    expect(text).toContain(opsAlarms.noWebhooks.todo);
  });

  test('puts no "now" into a sentence about the end of the token or of a closed rate limit', async () => {
    const inAMinute = systemClock.nowMs() + 60_000;
    const token = { token: 'token-of-the-test', expiresAtMs: inAMinute, access: 'access-of-the-test' };
    await app.foundation.redis.set(KEYS.token, JSON.stringify(token));
    await app.foundation.redis.hset(
      KEYS.circuits,
      budgetStateField('site'),
      JSON.stringify({ closed_until: inAMinute }),
    );
    const { html } = await (await signedIn(app)).get('/ops');
    const { validFor, closed } = ops.sending;
    for (const sentence of [validFor, closed]) {
      expect(html).toContain(`data-over="${sentence.now}" data-sentence="${sentence.in({ time: '{time}' })}"`);
    }
  });

  test('shows the operations page in Arabic, right to left', async () => {
    const visitor = await signedIn(app);
    visitor.cookies.set('towhook_language', 'ar');
    const { html } = await visitor.get('/ops');
    expect(textOf(html)).toContain(messagesIn('ar').opsAlarms.well);
    expect(html).toContain('dir="rtl"');
  });

  test('names a silent process on the operations page and what to do about it', async () => {
    const store = createProcessStore(app.foundation.redis);
    await store.beat(beatingProcess('gone', { role: 'worker', hostName: 'host-7' }), NOTHING);
    await app.foundation.redis.zadd(KEYS.heartbeats, systemClock.nowMs() - 60_000, 'gone');
    const text = textOf((await (await signedIn(app)).get('/ops')).html);
    expect(text).toContain(opsAlarms.silent.title({ role: opsAlarms.roles.worker, host: 'host-7' }));
    expect(text).toContain(opsAlarms.silent.todo);
  });

  test('answers a refresh of the operations page with its changing part only', async () => {
    const visitor = await signedIn(app);
    const { html } = await visitor.get('/ops', { 'hx-request': 'true' });
    expect(html).toMatch(/^<div id="ops-now"/);
    expect(html).not.toContain('<html');
    expect(html).not.toContain('id="charts"');
  });
});

describe('console: operations roles', () => {
  test('shows the operations page to a viewer without actions and refuses the pages of ops', async () => {
    const visitor = await signedIn(app, await newKey(app, 'viewer'));
    const { html } = await visitor.get('/ops');
    expect(textOf(html)).toContain('Everything works.');
    expect(html).not.toMatch(/action="\/ops\//);
    for (const path of ['/ops/keys', '/ops/audit', '/queues']) expect(html).not.toContain(`href="${path}"`);
    for (const path of ['/ops/keys', '/ops/audit']) expect((await visitor.get(path)).status).toBe(403);
    expect((await visitor.get('/ops/deliveries')).status).toBe(200);
  });

  test('refuses operations forms of a dispatcher with 403 and changes nothing', async () => {
    const visitor = await signedIn(app, await newKey(app, 'dispatcher'));
    for (const path of ['/ops/queues/reports/pause', '/ops/operations/started/resume', '/ops/keys']) {
      expect((await visitor.post(path, { name: 'x', role: 'ops' })).status).toBe(403);
    }
    expect(await app.foundation.queues.byName.reports.isPaused()).toBe(false);
    expect((await api(app).get('/api/keys')).text).not.toContain('"x"');
  });
});

describe('console: queue control', () => {
  test('pauses and resumes a queue, records the reason in the audit and shows the pause as an alarm', async () => {
    const visitor = await signedIn(app);
    await visitor.get('/ops');
    const paused = await visitor.post('/ops/queues/violations/pause', { reason: 'the disk is changed' });
    expect([paused.status, paused.location]).toEqual([303, '/ops#queues']);
    expect(await app.foundation.queues.byName.violations.isPaused()).toBe(true);
    const { html } = await visitor.get('/ops');
    expect(html).toContain(`<bdi>${opsAlarms.queuePaused.title({ queue: opsAlarms.work.violations })}</bdi>`);
    expect(html).toContain('action="/ops/queues/violations/resume"');
    expect(await auditText()).toContain('the disk is changed');

    expect((await visitor.post('/ops/queues/violations/resume', {})).status).toBe(303);
    expect(await app.foundation.queues.byName.violations.isPaused()).toBe(false);
    expect(textOf((await visitor.get('/ops')).html)).toContain(opsAlarms.well);
  });

  test('answers 404 when an unknown queue is paused', async () => {
    const response = await (await signedIn(app)).post('/ops/queues/nowhere/pause');
    expect(response.status).toBe(404);
    expect(textOf(response.html)).toContain('Queues are deliveries, reports, violations, runs');
  });

  test('answers 409 with the reason when an operation that is not paused is resumed', async () => {
    const response = await (await signedIn(app)).post('/ops/operations/started/resume');
    expect(response.status).toBe(409);
    expect(textOf(response.html)).toContain('The operation is not paused.');
  });
});

describe('console: operations charts', () => {
  test('explains empty operations charts when there are no metrics', async () => {
    const visitor = await signedIn(app);
    const { html } = await onOwnMetrics(() => visitor.get('/ops'));
    expect(textOf(html)).toContain(opsCharts.none);
  });

  test('lists chart data newest minute first and leaves minutes without metrics empty', async () => {
    const visitor = await signedIn(app);
    const { html } = await onOwnMetrics(async () => {
      await counted(1, { 'accepted.tow_request': 3, 'accepted.tow_invoice': 2, 'due.reports': 7 });
      await counted(3, { 'accepted.tow_request': 1 });
      return visitor.get('/ops');
    });
    const [, table = ''] = html.split('id="numbers-throughput"');
    const rows = [...(table.split('</table>')[0]?.matchAll(/<tr data-at="\d+">(.*?)<\/tr>/gs) ?? [])];
    expect(rows).toHaveLength(60);
    const accepted = rows.map(([, row = '']) => /<td class="number"(?: data-value="(\d+)")?>/.exec(row)?.[1] ?? null);
    expect(accepted.slice(0, 4)).toEqual(['5', null, '1', null]);
    expect(html).toMatch(/data-value-of="accepted"><bdi>5<\/bdi>/);
    expect(html).toMatch(/data-value-of="due.reports"><bdi>7<\/bdi>/);
  });

  test('limits operations charts to 100 points and shows one hour for an invalid range', async () => {
    await counted(1, {});
    const visitor = await signedIn(app);
    const rowsOf = async (query: string) =>
      [...(await visitor.get(`/ops/charts${query}`)).html.matchAll(/<tr data-at=/g)].length / 4;
    expect(await rowsOf('?hours=1')).toBe(60);
    expect(await rowsOf('?hours=6')).toBeGreaterThanOrEqual(72);
    expect(await rowsOf('?hours=48')).toBeLessThanOrEqual(100);
    expect(await rowsOf('?hours=999999')).toBe(60);
  });
});
