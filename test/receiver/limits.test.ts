import { request as rawRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import request from 'supertest';
import { startApp, useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { bodyOf, deliver, deliveriesIn, keysIn, towRequest } from './calls';

const LIMIT_BYTES = 2000;

/** Posts a body in chunks without a Content-Length, which supertest cannot do. */
function postInChunks(url: string, chunks: readonly string[]): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const call = rawRequest(url, { method: 'POST', headers: { 'content-type': 'application/json' } }, (response) => {
      const received: Buffer[] = [];
      response.on('data', (chunk: Buffer) => received.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(received).toString() }));
    });
    call.on('error', reject);
    for (const chunk of chunks) call.write(chunk);
    call.end();
  });
}

describe('receiver: body size limit', () => {
  const app = useApp({ role: 'receiver', environment: { WEBHOOK_BODY_LIMIT_BYTES: String(LIMIT_BYTES) } });
  const webhookOf = (bytes: number) => {
    const bare = JSON.stringify(towRequest({ filler: '' })).length;
    return JSON.stringify(towRequest({ filler: 'x'.repeat(bytes - bare) }));
  };

  it('accepts a body of exactly WEBHOOK_BODY_LIMIT_BYTES, with a declared length and in chunks', async () => {
    const body = webhookOf(LIMIT_BYTES);
    await deliver(app.receiverUrl, '/tow-request', body).expect(200);
    expect(await postInChunks(`${app.receiverUrl}/tow-request`, [body.slice(0, 900), body.slice(900)])).toMatchObject({
      status: 200,
    });
  });

  it('answers a body whose declared length exceeds the limit with 413 and stores nothing', async () => {
    const response = await deliver(app.receiverUrl, '/tow-request', webhookOf(LIMIT_BYTES + 1)).expect(413);
    expect(bodyOf(response).code).toBe('too_large');
    expect(await keysIn(app.redis)).toEqual([]);
  });

  it('answers a chunked body that exceeds the limit with 413 and stores nothing', async () => {
    const body = webhookOf(LIMIT_BYTES + 1);
    const response = await postInChunks(`${app.receiverUrl}/tow-request`, [body.slice(0, 900), body.slice(900)]);
    expect(response.status).toBe(413);
    expect(JSON.parse(response.text)).toMatchObject({ code: 'too_large', details: [] });
    expect(await keysIn(app.redis)).toEqual([]);
  });

  it('counts the size of a body in bytes, not in characters', async () => {
    const body = JSON.stringify(towRequest({ filler: 'ص'.repeat(LIMIT_BYTES * 0.6) }));
    expect(body.length).toBeLessThan(LIMIT_BYTES);
    await deliver(app.receiverUrl, '/tow-request', body).expect(413);
  });
});

describe('receiver: default body size limit', () => {
  const app = useApp({ role: 'receiver' });

  it('accepts a body of 131,072 bytes and answers a longer one with 413', async () => {
    const bare = JSON.stringify(towRequest({ filler: '' })).length;
    const webhookOf = (bytes: number) => JSON.stringify(towRequest({ filler: 'x'.repeat(bytes - bare) }));
    await deliver(app.receiverUrl, '/tow-request', webhookOf(131_072)).expect(200);
    await deliver(app.receiverUrl, '/tow-request', webhookOf(131_073)).expect(413);
    expect(await deliveriesIn(app.foundation)).toHaveLength(1);
  });
});

describe('receiver: content type', () => {
  const app = useApp({ role: 'receiver' });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'text/json', 'multipart/form-data'])(
    'answers a body of type %s with 415 and stores nothing',
    async (contentType) => {
      const headers = { 'content-type': contentType };
      const response = await deliver(app.receiverUrl, '/tow-request', towRequest(), headers).expect(415);
      expect(bodyOf(response).code).toBe('not_json');
      expect(await keysIn(app.redis)).toEqual([]);
    },
  );

  it('answers a body without a content type with 415', async () => {
    // superagent sets no content type for a Buffer.
    await request(app.receiverUrl)
      .post('/tow-request')
      .send(Buffer.from(JSON.stringify(towRequest())))
      .expect(415);
  });

  it('answers a compressed body with 415 and stores nothing, because signatures cover uncompressed bytes', async () => {
    const compressed = gzipSync(JSON.stringify(towRequest()));
    const headers = { 'content-encoding': 'gzip' };
    const response = await deliver(app.receiverUrl, '/tow-request', compressed, headers).expect(415);
    expect(bodyOf(response).code).toBe('encoding_not_supported');
    expect(await keysIn(app.redis)).toEqual([]);
  });
});

describe('receiver: rate limit', () => {
  const app = useApp({ role: 'receiver', environment: { WEBHOOK_RATE_PER_MINUTE: '5' } });

  it('answers webhooks above WEBHOOK_RATE_PER_MINUTE with 429 and Retry-After and does not store them', async () => {
    const bodies = Array.from({ length: 8 }, (_, at) => towRequest({ towing_reference_id: `TW-${at}` }));
    const responses = [];
    for (const body of bodies) responses.push(await deliver(app.receiverUrl, '/tow-request', body));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
    const last = responses.at(-1);
    expect(last?.body).toMatchObject({ code: 'too_many_calls', details: [] });
    expect(Number(last?.get('retry-after'))).toBeGreaterThan(0);
    expect(await deliveriesIn(app.foundation)).toHaveLength(5);
  });

  it('counts the webhooks of one source at two receivers together', async () => {
    const environment = { WEBHOOK_RATE_PER_MINUTE: '5' };
    const other = await startApp({ redisUrl: app.redis.url, role: 'receiver', environment });
    try {
      const statuses = [];
      for (const [index, url] of [app, other, app, other, app, other, app]
        .map(({ receiverUrl }) => receiverUrl)
        .entries()) {
        const body = towRequest({ towing_reference_id: `TW-${index}` });
        statuses.push((await deliver(url, '/tow-request', body)).status);
      }
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
    } finally {
      await other.stop();
    }
  });
});

describe('receiver: rate limit without Redis', () => {
  const app = useApp({ role: 'receiver', environment: { WEBHOOK_RATE_PER_MINUTE: '3' }, ownRedis: true });

  it('counts the webhooks of a source in the receiver itself while Redis is down', async () => {
    await app.redis.kill();
    const statuses = [];
    for (let index = 0; index < 5; index += 1) {
      const body = towRequest({ towing_reference_id: `TW-${index}` });
      statuses.push((await deliver(app.receiverUrl, '/tow-request', body)).status);
    }
    expect(statuses).toEqual([503, 503, 503, 429, 429]);
  });
});

describe('receiver: no rate limit', () => {
  const app = useApp({ role: 'receiver' });

  it('accepts 200 concurrent webhooks when no rate limit is configured', async () => {
    const bodies = Array.from({ length: 200 }, (_, at) => towRequest({ towing_reference_id: `TW-${at}` }));
    // The service repeats a webhook that got 503: on a busy machine Redis may not answer in time.
    const delivered = (body: ReturnType<typeof towRequest>) =>
      eventually(async () => {
        const { status } = await deliver(app.receiverUrl, '/tow-request', body);
        expect(status).not.toBe(503);
        return status;
      });
    expect(new Set(await Promise.all(bodies.map(delivered)))).toEqual(new Set([200]));
  });
});
