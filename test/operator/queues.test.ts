import { z } from 'zod';
import { queueView } from '../../src/contracts/operator';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { api, errorOf, newKey } from './client';
import { newTow, towAfter } from './world';

const app = useApp({ role: 'console' });

async function queues() {
  const response = await api(app).get('/api/queues');
  return z.array(z.strictObject(queueView.shape)).parse(response.body);
}

function basic(apiKey: string): string {
  return `Basic ${Buffer.from(`anyone:${apiKey}`).toString('base64')}`;
}

/** An agent on the console's port that sends this Authorization header: the bootstrap key when left out, none for null. */
function pages(authorization: string | null = basic(app.apiKey)) {
  const agent = api(app, null);
  return authorization === null ? agent : agent.set('authorization', authorization);
}

const CHANGE = { jobData: {}, priority: 1, delay: 1, max: 1, duration: 1 };

describe('operator API: queues', () => {
  it('lists every queue with its counts, all 0 while nothing is due', async () => {
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

  it('counts the waiting jobs of a queue and gives the age of the oldest while no worker takes them', async () => {
    await towAfter(app, 'started');
    await eventually(async () => {
      const reports = (await queues()).find(({ name }) => name === 'reports');
      expect(reports).toMatchObject({ waiting: 1, active: 0, failed: 0, due: 0 });
      expect(reports?.oldest_age_ms).toBeGreaterThan(0);
    });
  });
});

describe('queue pages', () => {
  it('shows the queue pages to an ops key sent as the Basic password', async () => {
    await pages()
      .get('/queues/')
      .expect(200)
      .expect('content-type', /^text\/html/);
    await pages(basic(await newKey(app, 'ops')))
      .get('/queues/')
      .expect(200);
    const data = await pages().get('/queues/api/queues').expect(200);
    expect(data.text).toContain('"reports"');
  });

  it.each(['/', '/api/queues', '/static/anything'])(
    'refuses /queues%s with 401 without the Basic password of an ops key',
    async (path) => {
      const weaker = await Promise.all((['viewer', 'crew', 'dispatcher'] as const).map((role) => newKey(app, role)));
      const authorizations = [null, basic('wrong'), `Bearer ${app.apiKey}`, ...weaker.map(basic), 'Basic !', basic('')];
      for (const authorization of authorizations) {
        const response = await pages(authorization).get(`/queues${path}`).expect(401);
        expect(response.get('www-authenticate')).toMatch(/^Basic/);
        expect(errorOf(response).code).toBe('not_authenticated');
      }
    },
  );

  it('refuses every change through the queue pages with 405, also from an ops key', async () => {
    await newTow(app);
    await towAfter(app, 'started');
    await app.foundation.queues.add('reports', ['a tow']);
    await eventually(async () => expect((await queues()).find(({ name }) => name === 'reports')?.waiting).toBe(2));
    const before = await queues();
    const changes = [
      ['put', '/api/queues/reports/retry/failed'],
      ['put', '/api/queues/reports/promote'],
      ['put', '/api/queues/reports/clean/waiting'],
      ['put', '/api/queues/reports/clean/completed'],
      ['put', '/api/queues/reports/pause'],
      ['put', '/api/queues/reports/resume'],
      ['put', '/api/queues/reports/empty'],
      ['put', '/api/queues/reports/obliterate'],
      ['post', '/api/queues/reports/add'],
      ['put', '/api/queues/reports/1/retry'],
      ['put', '/api/queues/reports/1/clean'],
      ['put', '/api/queues/reports/1/promote'],
      ['patch', '/api/queues/reports/1/update-data'],
    ] as const;
    const statuses = [];
    for (const [method, path] of changes) {
      const { status } = await pages()[method](`/queues${path}`).send(CHANGE);
      statuses.push(`${method} ${path} ${status}`);
    }
    expect(statuses).toEqual(changes.map(([method, path]) => `${method} ${path} 405`));
    expect((await queues()).map(({ oldest_age_ms: _age, due: _due, ...counts }) => counts)).toEqual(
      before.map(({ oldest_age_ms: _age, due: _due, ...counts }) => counts),
    );
  });

  it('does not pause any queue when the queue pages are asked to pause all', async () => {
    await pages().put('/queues/api/queues/pause').send(CHANGE);
    for (const queue of Object.values(app.foundation.queues.byName)) expect(await queue.isPaused()).toBe(false);
  });

  it('loads scripts and styles of the queue pages from the console only', async () => {
    const { text } = await pages().get('/queues/');
    expect(text).not.toMatch(/(?:src|href)="https?:/);
    expect(text).toMatch(/<link href="static\/css\/[^"]+" rel="stylesheet">/);
  });

  it('refuses the Redis statistics of the queue pages with 403', async () => {
    await pages().get('/queues/api/redis/stats').expect(403);
  });
});
