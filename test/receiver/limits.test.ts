import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { useApp } from '../support/app';
import { deliveriesIn, keysIn, post, towRequest } from './calls';

const LIMIT_BYTES = 2000;

/** Posts a body in pieces, without saying how long it will be. */
function postInPieces(url: string, pieces: readonly string[]): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request(url, { method: 'POST', headers: { 'content-type': 'application/json' } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    call.on('error', reject);
    for (const piece of pieces) call.write(piece);
    call.end();
  });
}

describe('the size of a body', () => {
  const app = useApp({ role: 'receiver', environment: { WEBHOOK_BODY_LIMIT_BYTES: String(LIMIT_BYTES) } });
  const bodyOf = (bytes: number) => {
    const bare = JSON.stringify(towRequest({ filler: '' })).length;
    return JSON.stringify(towRequest({ filler: 'x'.repeat(bytes - bare) }));
  };

  it('may be exactly the limit', async () => {
    const body = bodyOf(LIMIT_BYTES);
    expect((await post(app.receiverUrl, '/tow-request', body)).status).toBe(200);
    expect(await postInPieces(`${app.receiverUrl}/tow-request`, [body.slice(0, 900), body.slice(900)])).toMatchObject({
      status: 200,
    });
  });

  it('is answered 413 above the limit when it was declared, and nothing is stored', async () => {
    const answered = await post(app.receiverUrl, '/tow-request', bodyOf(LIMIT_BYTES + 1));
    expect([answered.status, answered.body.code]).toEqual([413, 'too_large']);
    expect(await keysIn(app.redis)).toEqual([]);
  });

  it('is answered 413 above the limit when it came in chunks, and nothing is stored', async () => {
    const body = bodyOf(LIMIT_BYTES + 1);
    const answered = await postInPieces(`${app.receiverUrl}/tow-request`, [body.slice(0, 900), body.slice(900)]);
    expect(answered.status).toBe(413);
    expect(JSON.parse(answered.text)).toMatchObject({ code: 'too_large', details: [] });
    expect(await keysIn(app.redis)).toEqual([]);
  });

  it('is counted in bytes, not in letters', async () => {
    const body = JSON.stringify(towRequest({ filler: 'ص'.repeat(LIMIT_BYTES * 0.6) }));
    expect(body.length).toBeLessThan(LIMIT_BYTES);
    expect((await post(app.receiverUrl, '/tow-request', body)).status).toBe(413);
  });
});

describe('the kind of a body', () => {
  const app = useApp({ role: 'receiver' });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'text/json', 'multipart/form-data'])(
    '%s is answered 415 and nothing is stored',
    async (contentType) => {
      const answered = await post(app.receiverUrl, '/tow-request', towRequest(), { 'content-type': contentType });
      expect([answered.status, answered.body.code]).toEqual([415, 'not_json']);
      expect(await keysIn(app.redis)).toEqual([]);
    },
  );

  it('none at all is answered 415', async () => {
    const bytes = new TextEncoder().encode(JSON.stringify(towRequest()));
    const response = await fetch(`${app.receiverUrl}/tow-request`, { method: 'POST', body: bytes });
    expect(response.status).toBe(415);
  });

  it('compressed is answered 415: a signature covers what was sent', async () => {
    const packed = new Uint8Array(gzipSync(JSON.stringify(towRequest())));
    const answered = await post(app.receiverUrl, '/tow-request', packed, { 'content-encoding': 'gzip' });
    expect([answered.status, answered.body.code]).toEqual([415, 'encoding_not_supported']);
    expect(await keysIn(app.redis)).toEqual([]);
  });
});

describe('the rate of a source', () => {
  const app = useApp({ role: 'receiver', environment: { WEBHOOK_RATE_PER_MINUTE: '5' } });

  it('is answered 429 above what is configured, with a time to come back, and nothing is stored', async () => {
    const calls = Array.from({ length: 8 }, (_, at) => towRequest({ towing_reference_id: `TW-${at}` }));
    const answers = [];
    for (const call of calls) answers.push(await post(app.receiverUrl, '/tow-request', call));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
    const last = answers.at(-1);
    expect(last?.body).toMatchObject({ code: 'too_many_calls', details: [] });
    expect(Number(last?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await deliveriesIn(app.foundation)).toHaveLength(5);
  });
});

describe('the rate of a source that is not configured', () => {
  const app = useApp({ role: 'receiver' });

  it('is not limited', async () => {
    const calls = Array.from({ length: 200 }, (_, at) => towRequest({ towing_reference_id: `TW-${at}` }));
    const answers = await Promise.all(calls.map((call) => post(app.receiverUrl, '/tow-request', call)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });
});
