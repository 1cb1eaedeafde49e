import { z } from 'zod';
import { queueView } from '../../src/contracts/operator';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { errorOf, get, newKey } from './client';
import { newTow, towAfter } from './world';

const app = useApp({ role: 'console' });

async function queues() {
  const { json } = await get(app, '/api/queues');
  return z.array(z.strictObject(queueView.shape)).parse(json);
}

function basic(apiKey: string): string {
  return `Basic ${Buffer.from(`anybody:${apiKey}`).toString('base64')}`;
}

/** A call to the queue pages with this Authorization header, the ops key's when left out. */
async function page(method: string, path: string, authorization: string | null = basic(app.apiKey)) {
  const response = await fetch(`${app.consoleUrl}/queues${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(authorization === null ? {} : { authorization }) },
    ...(method === 'GET' ? {} : { body: '{"jobData": {}, "priority": 1, "delay": 1, "max": 1, "duration": 1}' }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe('GET /api/queues', () => {
  it('names every queue with its jobs and what is due, all 0 while there is nothing to do', async () => {
    const empty = { waiting: 0, active: 0, failed: 0, due: 0, oldest_age_ms: 0, paused: false };
    const shown = await queues();
    expect(shown).toEqual(
      expect.arrayContaining([
        { name: 'deliveries', ...empty },
        { name: 'reports', ...empty },
      ]),
    );
    for (const queue of shown) expect(queue).toEqual({ name: queue.name, ...empty });
  });

  it('counts the job that waits, the record that is due, and how long it has been', async () => {
    await towAfter(app, 'started');
    await eventually(async () => {
      const reports = (await queues()).find(({ name }) => name === 'reports');
      expect(reports).toMatchObject({ waiting: 1, active: 0, failed: 0, due: 1 });
      expect(reports?.oldest_age_ms).toBeGreaterThan(0);
    });
  });
});

describe('the queue pages', () => {
  it('are shown to whoever has an ops key as the password', async () => {
    const shown = await page('GET', '/');
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/html/)]);
    expect((await page('GET', '/', basic(await newKey(app, 'ops')))).status).toBe(200);
    const data = await page('GET', '/api/queues');
    expect(data.status).toBe(200);
    expect(data.text).toContain('"reports"');
  });

  it.each(['/', '/api/queues', '/static/anything'])('are refused 401 to everybody else: %s', async (path) => {
    const weaker = await Promise.all((['viewer', 'crew', 'dispatcher'] as const).map((role) => newKey(app, role)));
    const authorizations = [null, basic('wrong'), `Bearer ${app.apiKey}`, ...weaker.map(basic), 'Basic !', basic('')];
    for (const authorization of authorizations) {
      const refused = await page('GET', path, authorization);
      expect(refused.status).toBe(401);
      expect(refused.headers.get('www-authenticate')).toMatch(/^Basic/);
      expect(errorOf({ ...refused, body: JSON.parse(refused.text) }).code).toBe('not_authenticated');
    }
  });

  it('change nothing for anybody: every change is refused 405', async () => {
    await newTow(app);
    await towAfter(app, 'started');
    await eventually(async () => expect((await queues()).find(({ name }) => name === 'reports')?.waiting).toBe(1));
    const before = await queues();
    const changes = [
      ['PUT', '/api/queues/reports/retry/failed'],
      ['PUT', '/api/queues/reports/promote'],
      ['PUT', '/api/queues/reports/clean/waiting'],
      ['PUT', '/api/queues/reports/clean/completed'],
      ['PUT', '/api/queues/reports/pause'],
      ['PUT', '/api/queues/reports/resume'],
      ['PUT', '/api/queues/reports/empty'],
      ['PUT', '/api/queues/reports/obliterate'],
      ['POST', '/api/queues/reports/add'],
      ['PUT', '/api/queues/reports/1/retry'],
      ['PUT', '/api/queues/reports/1/clean'],
      ['PUT', '/api/queues/reports/1/promote'],
      ['PATCH', '/api/queues/reports/1/update-data'],
    ] as const;
    const statuses = [];
    for (const [method, path] of changes) statuses.push(`${method} ${path} ${(await page(method, path)).status}`);
    expect(statuses).toEqual(changes.map(([method, path]) => `${method} ${path} 405`));
    expect((await queues()).map(({ oldest_age_ms: _age, due: _due, ...counts }) => counts)).toEqual(
      before.map(({ oldest_age_ms: _age, due: _due, ...counts }) => counts),
    );
  });

  it('pause nothing when all queues are to be paused at once', async () => {
    await page('PUT', '/api/queues/pause');
    for (const queue of Object.values(app.foundation.queues.byName)) expect(await queue.isPaused()).toBe(false);
  });

  it('ask no other site for anything, and come with their own styles', async () => {
    const { text } = await page('GET', '/');
    expect(text).not.toMatch(/(?:src|href)="https?:/);
    expect(text).toMatch(/<link href="static\/css\/[^"]+" rel="stylesheet">/);
  });

  it('tell nothing of the server that holds the records', async () => {
    expect((await page('GET', '/api/redis/stats')).status).toBe(403);
  });
});
