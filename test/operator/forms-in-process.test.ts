import request from 'supertest';
import { page } from '../../src/contracts/paging';
import { violationView } from '../../src/contracts/violation/violations';
import { pause } from '../../src/platform/timers';
import type { OperatorApi } from '../../src/workflow/operator-port';
import { useApp } from '../support/app';
import { eventually, inTime } from '../support/eventually';
import { imageOf, PNG } from '../support/images';
import { api } from './client';
import {
  actorOf,
  type FormPage,
  operatorOn,
  OWN,
  refusalIn,
  refusalOver,
  type PageFormResult,
  startFormPage,
  TOKEN,
  valueIn,
} from './in-process';
import {
  answerOf,
  BOUNDARY,
  chunk,
  clearDisk,
  COMPLETE,
  FORM_TAIL,
  formHead,
  formOf,
  imagesOnDisk,
  rawClient,
  report,
  REQUIRED,
  sendForm,
  violationIn,
  type FormFile,
} from './forms';

const app = useApp({ role: 'console', ownRedis: true });
let operator: OperatorApi;
let served: FormPage;
beforeAll(async () => {
  ({ api: operator } = operatorOn(app.foundation));
  served = await startFormPage(operator, actorOf('dispatcher'));
});
afterAll(() => served.stop());
beforeEach(() => clearDisk(app));
afterEach(() =>
  eventually(async () => {
    const left = (await imagesOnDisk(app)).filter((path) => path.startsWith('incoming'));
    if (left.length > 0) throw new Error('part of an upload is still on the disk');
  }),
);

const PHOTO = { name: 'front.png', bytes: imageOf(5000) };
const MEGABYTE = imageOf(1_000_000);

/** Sends a form to the page. Returns the status of the page's response and the result of the API. */
async function send(form: FormData, to: FormPage = served): Promise<{ status: number; result: PageFormResult }> {
  const { status } = await sendForm(request(to.url).post('/'), form);
  const result = to.results.at(-1);
  if (result === undefined || result === 'rejected') throw new Error('the API has no result');
  return { status, result };
}

const filled = (fields: Readonly<Record<string, string>> = REQUIRED, files: readonly FormFile[] = []) =>
  formOf({ ...OWN, ...fields }, files);

const reported = async () => page(violationView).parse((await api(app).get('/api/violations')).body).items;

describe('operator API: forms of web pages', () => {
  it('accepts a form of a web page with its images, without the fields that belong to the page', async () => {
    const { result } = await send(filled(COMPLETE, [PHOTO]));
    const violation = violationView.parse(valueIn(result));
    expect(violation).toMatchObject({ metadata_id: 'case-77', by: 'dispatcher in process', warnings: [] });
    expect(violation.images).toMatchObject([{ name: 'front.png', size_bytes: 5000 }]);
    expect(result.fields).toEqual(COMPLETE);
    expect((await reported()).map(({ id }) => id)).toEqual([violation.id]);
  });

  it('gives a form of a web page and an HTTP request under the same Idempotency-Key one effect', async () => {
    const [first, again] = [await send(filled(REQUIRED, [PHOTO])), await send(filled(REQUIRED, [PHOTO]))];
    expect(valueIn(again.result)).toEqual(valueIn(first.result));
    const over = await report(app, REQUIRED, [PHOTO], { idempotencyKey: OWN.send_once });
    expect(violationIn(over)).toEqual(valueIn(first.result));
    expect(await reported()).toHaveLength(1);
  });

  it('refuses a changed form of a web page under the same Idempotency-Key with 422', async () => {
    await send(filled());
    const { result } = await send(filled({ ...REQUIRED, location: 'elsewhere' }));
    expect(refusalIn(result)).toMatchObject({ httpStatus: 422, code: 'idempotency_key_reused' });
  });

  it('accepts each form of a web page without an Idempotency-Key as a new violation', async () => {
    for (let turn = 0; turn < 2; turn += 1) valueIn((await send(formOf({ token: TOKEN, ...REQUIRED }))).result);
    expect(await reported()).toHaveLength(2);
  });
});

describe('operator API: refused forms of web pages', () => {
  it.each<[what: string, fields: Record<string, string>, files: FormFile[]]>([
    ['with invalid fields', { ...REQUIRED, latitude: 'x', zoneId: '' }, [PHOTO]],
    ['with a file that is not an image', REQUIRED, [PHOTO, { name: 'a.txt', bytes: Buffer.from('text') }]],
    ['with a file in an unknown field', REQUIRED, [{ ...PHOTO, under: 'attachments' }]],
    ['with images that are too large', REQUIRED, [{ name: 'a.png', bytes: imageOf(11_000_000) }]],
  ])('refuses a form of a web page %s as over HTTP, and returns the entered fields', async (_what, fields, files) => {
    const { result } = await send(filled(fields, files));
    expect(refusalIn(result)).toEqual(refusalOver(await report(app, fields, files)));
    expect(result.fields).toEqual(fields);
    expect(await reported()).toEqual([]);
  });

  it('refuses a form of a web page with a missing or wrong token with 403, and returns no fields', async () => {
    for (const fields of [{ ...REQUIRED, token: 'guessed' }, REQUIRED, { ...REQUIRED, latitude: 'x' }]) {
      const { result } = await send(formOf(fields, [PHOTO]));
      expect(refusalIn(result)).toMatchObject({ httpStatus: 403, code: 'form_not_ours', retryAfterMs: null });
      expect(result.fields).toEqual({});
    }
    expect(await reported()).toEqual([]);
  });

  it('returns no fields of a form of a web page that is too large and has no token', async () => {
    const { result } = await send(formOf(REQUIRED, [{ name: 'a.png', bytes: imageOf(11_000_000) }]));
    expect([refusalIn(result).httpStatus, result.fields]).toEqual([413, {}]);
  });

  it('refuses a form with a repeated field of the page and names the field', async () => {
    const form = filled();
    form.append('token', 'another');
    expect(refusalIn((await send(form)).result).details).toEqual([{ field: 'token', rule: 'must be given once' }]);
  });

  it('refuses a large form of a web page to a role that may not send it, and the client receives the response', async () => {
    const crew = await startFormPage(operator, actorOf('crew'));
    try {
      const { status, result } = await send(filled(REQUIRED, [{ name: 'a.png', bytes: imageOf(9_000_000) }]), crew);
      expect([status, refusalIn(result).code, result.fields]).toEqual([200, 'role_not_allowed', {}]);
    } finally {
      await crew.stop();
    }
  });

  it('refuses a request to a web page that is not multipart with 415', async () => {
    const response = await request(served.url).post('/').type('form').send(REQUIRED);
    expect(response.body).toMatchObject({ ok: false, refusal: { httpStatus: 415, code: 'not_multipart' } });
  });
});

describe('operator API: forms of web pages that are too large', () => {
  // Clients that write before they read, or write slowly: supertest does neither.
  const client = (headers: Record<string, string>) =>
    rawClient({ consoleUrl: served.url, apiKey: 'none' }, { path: '/', headers });

  it('reads the rest of a form that is too large, so that a client that writes before it reads receives the response', async () => {
    const images = Array.from({ length: 30 }, () => MEGABYTE);
    const parts = [Buffer.from(formHead({ ...OWN, ...REQUIRED })), ...images, Buffer.from(FORM_TAIL)];
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const own = await client({ 'content-length': String(length) });
    for (const part of parts) expect(await own.write(part)).toBe(true);
    expect(await answerOf(own)).toMatchObject({ status: 200, body: { ok: false, fields: REQUIRED } });
    own.socket.destroy();
  });

  it('waits at most 2 s for the rest of a form that is too large from a slow client', async () => {
    // The 2 s begin when the form is too large. The limit leaves time for the response.
    await inTime(4000, async (startClock) => {
      const own = await client({ 'transfer-encoding': 'chunked' });
      await own.write(chunk(formHead({ ...OWN, ...REQUIRED })));
      for (let sent = 0; sent <= 10_485_760; sent += 1_000_000) await own.write(chunk(MEGABYTE));
      startClock();
      while (own.answered() === '') {
        await own.write(chunk('x'));
        await pause(20);
      }
      expect(await answerOf(own)).toMatchObject({ status: 200, body: { ok: false, refusal: { httpStatus: 413 } } });
      own.socket.destroy();
    });
  });
});

describe('operator API: incomplete forms of web pages', () => {
  it('refuses a form of a web page whose client disconnects and removes its files', async () => {
    const before = served.results.length;
    const own = await rawClient(
      { consoleUrl: served.url, apiKey: 'none' },
      { path: '/', headers: { 'content-length': '5000000' } },
    );
    await own.write(formHead({ ...OWN, ...REQUIRED }));
    await own.write(imageOf(1_000_000));
    await eventually(async () => expect(await imagesOnDisk(app)).toHaveLength(1));
    own.socket.destroy();
    await eventually(() => expect(served.results.length).toBe(before + 1));
    expect(served.results.at(-1)).toMatchObject({ ok: false, refusal: { code: 'client_gone' } });
  });

  it('refuses a form of a web page that breaks off with 400 and returns the fields before that point', async () => {
    const text = `${formHead({ ...OWN, ...REQUIRED })}${PNG.toString('latin1')}`;
    const response = await request(served.url)
      .post('/')
      .set('content-type', `multipart/form-data; boundary=${BOUNDARY}`)
      .send(Buffer.from(text));
    expect(response.body).toMatchObject({
      refusal: { httpStatus: 400, code: 'form_broken' },
      fields: REQUIRED,
    });
  });
});

it('rejects a form of a web page while Redis is down, leaves no file of it, and the client receives a response', async () => {
  await app.redis.kill();
  const response = await sendForm(request(served.url).post('/'), filled(REQUIRED, [PHOTO]));
  expect([response.status, served.results.at(-1)]).toEqual([503, 'rejected']);
  expect(await imagesOnDisk(app)).toEqual([]);
  await app.redis.start();
  await eventually(async () => valueIn((await send(filled(REQUIRED, [PHOTO]))).result));
});
