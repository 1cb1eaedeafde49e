import request from 'supertest';
import { z } from 'zod';
import { useApp } from '../support/app';
import { eventually, inTime } from '../support/eventually';
import { api, refsFound, towIn, towPath } from './client';
import { WHEREABOUTS } from './world';

const app = useApp({ ownRedis: true });

const LISTENERS = [
  ['receiver', () => app.receiverUrl],
  ['console', () => app.consoleUrl],
  ['private listener', () => app.opsUrl],
] as const;

async function read(url: string): Promise<{ status: number; text: string }> {
  const { origin, pathname, search } = new URL(url);
  const { status, text } = await request(origin).get(`${pathname}${search}`);
  return { status, text };
}

function statusIn(text: string): unknown {
  return z.looseObject({ status: z.string() }).parse(JSON.parse(text)).status;
}

/** The answer of a listener that is ready when `begin` makes it not so: within 2 s, though answers are kept for a second. */
function notReadyIn2s(url: () => string, begin: () => unknown, end: () => unknown) {
  return inTime(2000, async (startClock) => {
    await end();
    await eventually(async () => expect((await read(`${url()}/readyz`)).status).toBe(200));
    await begin();
    startClock();
    return eventually(async () => {
      const answer = await read(`${url()}/readyz`);
      expect(answer.status).toBe(503);
      return answer;
    });
  });
}

describe.each(LISTENERS)('health of the %s', (name, url) => {
  it(`reports the ${name} as ready and alive`, async () => {
    await eventually(async () => {
      const ready = await read(`${url()}/readyz`);
      expect([ready.status, statusIn(ready.text)]).toEqual([200, 'ready']);
    });
    const alive = await read(`${url()}/healthz?probe=1`);
    expect([alive.status, statusIn(alive.text)]).toEqual([200, 'alive']);
  });

  it(`reports the ${name} as alive and, within 2 s, as not ready while Redis is down, and as ready once Redis is back`, async () => {
    const notReady = await notReadyIn2s(url, app.redis.kill, app.redis.start);
    expect(JSON.parse(notReady.text)).toEqual({ status: 'not_ready', redis: 'unreachable' });
    expect((await read(`${url()}/healthz`)).status).toBe(200);
    await app.redis.start();
    await eventually(async () => expect((await read(`${url()}/readyz`)).status).toBe(200));
  });

  it(`reports the ${name} within 2 s as not ready while Redis does not respond`, async () => {
    await notReadyIn2s(url, app.redis.freeze, app.redis.thaw);
    app.redis.thaw();
  });
});

describe.each(LISTENERS.slice(1))('warnings of the %s', (name, url) => {
  it(`reports the ${name} as ready with a warning when the memory policy of Redis may evict records`, async () => {
    await eventually(() => app.redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru'));
    try {
      await eventually(async () => {
        const ready = await read(`${url()}/readyz`);
        expect([ready.status, ready.text]).toEqual([200, expect.stringContaining('maxmemory-policy')]);
      });
    } finally {
      await app.redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    }
  });
});

describe('metrics of the listeners', () => {
  it('serves no metrics on the public receiver', async () => {
    expect((await read(`${app.receiverUrl}/metrics`)).status).toBe(404);
  });

  it('counts answers and processed deliveries in metrics that contain no reference, plate or place', async () => {
    const references = ['TW-20261120-9F4D1A', 'V-20261120-K7P2QX', 'patrol-17'];
    const [towing_reference_id = '', violation_reference_id, id] = references;
    const body = { towing_reference_id, violation_reference_id, metadata: { id } };
    await eventually(async () => {
      await request(app.receiverUrl).post('/tow-request').send(body).expect(200);
    });
    await eventually(async () => expect(await refsFound(app)).toEqual([towing_reference_id]));
    towIn(
      await api(app)
        .post(towPath(towing_reference_id, '/started'))
        .send({ ...WHEREABOUTS, plate_number: 'PLATE QZWX' }),
    );
    await api(app).get('/api/tows').query({ q: 'PLATEQZWX' });
    for (const metricsOf of [() => api(app).get('/metrics'), () => read(`${app.opsUrl}/metrics`)]) {
      const text = await eventually(async () => {
        const metrics = await metricsOf();
        expect(metrics.text).toMatch(/^towhook_report_attempt_seconds_count\{installation="main",kind="started"/m);
        return metrics.text;
      });
      expect(text).toMatch(
        /^towhook_webhook_answers_total\{kind="tow_request",status="200",outcome="accepted",installation="main"\} [1-9]/m,
      );
      expect(text).toMatch(/^towhook_deliveries_processed_total\{.*verdict="created",installation="main"\} [1-9]/m);
      expect(text).toMatch(/^towhook_api_answers_total\{method="POST",status="202",installation="main"\} [1-9]/m);
      expect(text).toMatch(/^towhook_due\{queue="reports",installation="main"\} \d/m);
      for (const word of [...references, 'QZWX', 'PLATE', 'King Fahd']) expect(text).not.toContain(word);
    }
  });
});
