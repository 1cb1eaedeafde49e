import { setTimeout as pause } from 'node:timers/promises';
import { page } from '../../src/contracts/paging';
import { violationView } from '../../src/contracts/violations';
import type { OperatorApi } from '../../src/workflow/operator-port';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { imageOf, PNG } from '../support/images';
import { get } from './client';
import { OWN, startFormPage, TOKEN, type FormPage, type Reported } from './form-world';
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
  violationIn,
  type FormFile,
} from './forms';
import { actorOf, operatorOn, refusalIn, refusalOver, valueIn } from './in-process';

const app = useApp({ role: 'console' });
let api: OperatorApi;
let served: FormPage;
beforeAll(async () => {
  ({ api } = operatorOn(app.foundation));
  served = await startFormPage(api, actorOf('dispatcher'));
});
afterAll(() => served.stop());
beforeEach(() => clearDisk(app));
afterEach(() =>
  eventually(async () => {
    const left = (await imagesOnDisk(app)).filter((path) => path.startsWith('incoming'));
    if (left.length > 0) throw new Error('something of an upload stayed on the disk');
  }),
);

const PHOTO = { name: 'front.png', bytes: imageOf(5000) };

async function send(form: FormData, to: FormPage = served): Promise<{ status: number; said: Reported }> {
  const response = await fetch(to.url, { method: 'POST', body: form });
  await response.text();
  const said = to.said.at(-1);
  if (said === undefined || said === 'rejected') throw new Error('the API could not say');
  return { status: response.status, said };
}

const filled = (fields: Readonly<Record<string, string>> = REQUIRED, files: readonly FormFile[] = []) =>
  formOf({ ...OWN, ...fields }, files);

const reported = async () => page(violationView).parse((await get(app, '/api/violations')).json).items;

describe('a form that a page hands over', () => {
  it('is taken in with its images, and the fields of the page are no part of it', async () => {
    const { said } = await send(filled(COMPLETE, [PHOTO]));
    const violation = violationView.parse(valueIn(said));
    expect(violation).toMatchObject({ metadata_id: 'case-77', by: 'dispatcher in process', warnings: [] });
    expect(violation.images).toMatchObject([{ name: 'front.png', size_bytes: 5000 }]);
    expect(said.fields).toEqual(COMPLETE);
    expect((await reported()).map(({ id }) => id)).toEqual([violation.id]);
  });

  it('has one effect under its key however often it is sent, and for a program under the same key', async () => {
    const [first, again] = [await send(filled(REQUIRED, [PHOTO])), await send(filled(REQUIRED, [PHOTO]))];
    expect(valueIn(again.said)).toEqual(valueIn(first.said));
    const over = await report(app, REQUIRED, [PHOTO], { idempotencyKey: OWN.send_once });
    expect(violationIn(over)).toEqual(valueIn(first.said));
    expect(await reported()).toHaveLength(1);
  });

  it('is another one under its key when it says something else', async () => {
    await send(filled());
    const { said } = await send(filled({ ...REQUIRED, location: 'elsewhere' }));
    expect(refusalIn(said)).toMatchObject({ httpStatus: 422, code: 'idempotency_key_reused' });
  });

  it('goes without a key when it has no field for one, and each has its own effect', async () => {
    for (let turn = 0; turn < 2; turn += 1) valueIn((await send(formOf({ token: TOKEN, ...REQUIRED }))).said);
    expect(await reported()).toHaveLength(2);
  });
});

describe('a form that is refused', () => {
  it.each<[what: string, fields: Record<string, string>, files: FormFile[]]>([
    ['for a field', { ...REQUIRED, latitude: 'x', zoneId: '' }, [PHOTO]],
    ['for what is no image', REQUIRED, [PHOTO, { name: 'a.txt', bytes: Buffer.from('text') }]],
    ['for a file under another name', REQUIRED, [{ ...PHOTO, under: 'attachments' }]],
    ['for its size', REQUIRED, [{ name: 'a.png', bytes: imageOf(11_000_000) }]],
  ])('%s is refused as over HTTP, and what was entered comes back', async (_what, fields, files) => {
    const { said } = await send(filled(fields, files));
    expect(refusalIn(said)).toEqual(refusalOver(await report(app, fields, files)));
    expect(said.fields).toEqual(fields);
    expect(await reported()).toEqual([]);
  });

  it('since its page is not admitted has no effect, and nothing of it comes back', async () => {
    for (const fields of [{ ...REQUIRED, token: 'guessed' }, REQUIRED, { ...REQUIRED, latitude: 'x' }]) {
      const { said } = await send(formOf(fields, [PHOTO]));
      expect(refusalIn(said)).toMatchObject({ httpStatus: 403, code: 'form_not_ours', retryAfterMs: null });
      expect(said.fields).toEqual({});
    }
    expect(await reported()).toEqual([]);
  });

  it('for its size and was not admitted either comes back empty', async () => {
    const { said } = await send(formOf(REQUIRED, [{ name: 'a.png', bytes: imageOf(11_000_000) }]));
    expect([refusalIn(said).httpStatus, said.fields]).toEqual([413, {}]);
  });

  it('since a field of the page came twice names that field', async () => {
    const form = filled();
    form.append('token', 'another');
    expect(refusalIn((await send(form)).said).details).toEqual([{ field: 'token', rule: 'must be given once' }]);
  });

  it('since the role may not is refused whatever its size, and its client hears of it', async () => {
    const crew = await startFormPage(api, actorOf('crew'));
    try {
      const { status, said } = await send(filled(REQUIRED, [{ name: 'a.png', bytes: imageOf(9_000_000) }]), crew);
      expect([status, refusalIn(said).code, said.fields]).toEqual([200, 'role_not_allowed', {}]);
    } finally {
      await crew.stop();
    }
  });

  it('since it is none is refused', async () => {
    const response = await fetch(served.url, { method: 'POST', body: new URLSearchParams(REQUIRED) });
    expect(await response.json()).toMatchObject({ ok: false, refusal: { httpStatus: 415, code: 'not_multipart' } });
  });
});

describe('the rest of a form that is too large', () => {
  const client = (headers: Record<string, string>) =>
    rawClient({ consoleUrl: served.url, apiKey: 'none' }, { path: '/', headers });

  it('is thrown away, so that the page can answer a client that reads only after it has written', async () => {
    const body = Buffer.concat([
      Buffer.from(formHead({ ...OWN, ...REQUIRED })),
      imageOf(30_000_000),
      Buffer.from(FORM_TAIL),
    ]);
    const own = await client({ 'content-length': String(body.length) });
    expect(await own.write(body)).toBe(true);
    expect(await answerOf(own)).toMatchObject({ status: 200, body: { ok: false, fields: REQUIRED } });
    own.socket.destroy();
  });

  it('keeps the page waiting for 2 s at most while a slow client sends it', async () => {
    const own = await client({ 'transfer-encoding': 'chunked' });
    await own.write(chunk(formHead({ ...OWN, ...REQUIRED })));
    for (let sent = 0; sent <= 10_485_760; sent += 1_000_000) await own.write(chunk(imageOf(1_000_000)));
    const startedMs = performance.now();
    while (own.answered() === '' && performance.now() - startedMs < 6000) {
      await own.write(chunk('x'));
      await pause(20);
    }
    expect(await answerOf(own)).toMatchObject({ status: 200, body: { ok: false, refusal: { httpStatus: 413 } } });
    expect(performance.now() - startedMs).toBeLessThan(4000);
    own.socket.destroy();
  });
});

describe('a form that does not come to its end', () => {
  it('because its client goes away is refused to nobody, and leaves nothing', async () => {
    const before = served.said.length;
    const own = await rawClient(
      { consoleUrl: served.url, apiKey: 'none' },
      { path: '/', headers: { 'content-length': '5000000' } },
    );
    await own.write(formHead({ ...OWN, ...REQUIRED }));
    await own.write(imageOf(1_000_000));
    await eventually(async () => expect(await imagesOnDisk(app)).toHaveLength(1));
    own.socket.destroy();
    await eventually(() => expect(served.said.length).toBe(before + 1));
    expect(served.said.at(-1)).toMatchObject({ ok: false, refusal: { code: 'client_gone' } });
  });

  it('because it breaks off is refused 400 with what came of it', async () => {
    const text = `${formHead({ ...OWN, ...REQUIRED })}${PNG.toString('latin1')}`;
    const response = await fetch(served.url, {
      method: 'POST',
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: text,
    });
    expect(await response.json()).toMatchObject({
      refusal: { httpStatus: 400, code: 'form_broken' },
      fields: REQUIRED,
    });
  });
});

it('a form is rejected while the store cannot say, has left nothing, and its client hears of it', async () => {
  await app.redis.kill();
  const response = await fetch(served.url, { method: 'POST', body: filled(REQUIRED, [PHOTO]) });
  expect([response.status, served.said.at(-1)]).toEqual([503, 'rejected']);
  expect(await imagesOnDisk(app)).toEqual([]);
  await app.redis.start();
  await eventually(async () => valueIn((await send(filled(REQUIRED, [PHOTO]))).said));
});
