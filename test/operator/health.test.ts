import { z } from 'zod';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { post as postCall, get, refsFound, towIn, towPath } from './client';
import { WHEREABOUTS } from './world';

const app = useApp();

const LISTENERS = [
  ['receiver', () => app.receiverUrl],
  ['console', () => app.consoleUrl],
  ['private listener', () => app.opsUrl],
] as const;

async function read(url: string): Promise<{ status: number; text: string; tookMs: number }> {
  const startedMs = performance.now();
  const response = await fetch(url);
  return { status: response.status, text: await response.text(), tookMs: performance.now() - startedMs };
}

function statusIn(text: string): unknown {
  return z.looseObject({ status: z.string() }).parse(JSON.parse(text)).status;
}

describe.each(LISTENERS)('the %s', (_name, url) => {
  it('says that it lives and that it can do its work', async () => {
    await eventually(async () => {
      const ready = await read(`${url()}/readyz`);
      expect([ready.status, statusIn(ready.text)]).toEqual([200, 'ready']);
    });
    const alive = await read(`${url()}/healthz?probe=1`);
    expect([alive.status, statusIn(alive.text)]).toEqual([200, 'alive']);
  });

  it('lives without Redis and says within 2 s that it cannot do its work, until Redis is back', async () => {
    await app.redis.kill();
    const notReady = await read(`${url()}/readyz`);
    expect([notReady.status, JSON.parse(notReady.text)]).toEqual([503, { status: 'not_ready', redis: 'unreachable' }]);
    expect(notReady.tookMs).toBeLessThan(2000);
    expect((await read(`${url()}/healthz`)).status).toBe(200);
    await app.redis.start();
    await eventually(async () => expect((await read(`${url()}/readyz`)).status).toBe(200));
  });

  it('says within 2 s that it cannot do its work while Redis is frozen', async () => {
    await eventually(async () => expect((await read(`${url()}/readyz`)).status).toBe(200));
    app.redis.freeze();
    const notReady = await read(`${url()}/readyz`);
    app.redis.thaw();
    expect(notReady.status).toBe(503);
    expect(notReady.tookMs).toBeLessThan(2000);
  });

  it('warns of a Redis that may forget', async () => {
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

describe('the metrics', () => {
  it('are not shown to the internet', async () => {
    expect((await read(`${app.receiverUrl}/metrics`)).status).toBe(404);
  });

  it('count what was answered and processed, and carry no reference and no plate', async () => {
    const references = ['TW-20261120-9F4D1A', 'V-20261120-K7P2QX', 'patrol-17'];
    const [towing_reference_id = '', violation_reference_id, id] = references;
    const body = JSON.stringify({ towing_reference_id, violation_reference_id, metadata: { id } });
    await eventually(async () => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
      expect((await fetch(`${app.receiverUrl}/tow-request`, init)).status).toBe(200);
    });
    await eventually(async () => expect(await refsFound(app)).toEqual([towing_reference_id]));
    towIn(
      await postCall(app, towPath(towing_reference_id, '/started'), { ...WHEREABOUTS, plate_number: 'PLATE QZWX' }),
    );
    await get(app, '/api/tows?q=PLATEQZWX');
    for (const url of [app.consoleUrl, app.opsUrl]) {
      const text = await eventually(async () => {
        const metrics = await read(`${url}/metrics`);
        expect(metrics.text).toMatch(/^towhook_report_attempt_seconds_count\{kind="started"/m);
        return metrics.text;
      });
      expect(text).toMatch(/^towhook_webhook_answers_total\{kind="tow_request",status="200"\} [1-9]/m);
      expect(text).toMatch(/^towhook_deliveries_processed_total\{.*verdict="created"\} [1-9]/m);
      expect(text).toMatch(/^towhook_api_answers_total\{method="POST",status="202"\} [1-9]/m);
      expect(text).toMatch(/^towhook_due\{queue="reports"\} \d/m);
      for (const word of [...references, 'QZWX', 'PLATE', 'King Fahd']) expect(text).not.toContain(word);
    }
  });
});
