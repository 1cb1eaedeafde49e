import { newKey, towOf } from '../operator/client';
import { newTow } from '../operator/world';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { markupOf, pagePath } from './tow-world';
import { signedIn, signedOutVisitor, textOf, type Visitor } from './visitor';

const app = useApp({ role: 'console', ownRedis: true });

const PLACE = { plate_number: 'KLM 77', towed_location: 'Olaya <Street>', latitude: '24,5', longitude: '46.5' };

/** The filled-in form for the `started` fact on the page of a new tow. */
async function filledIn(visitor: Visitor): Promise<{ ref: string; path: string; body: URLSearchParams }> {
  const ref = await newTow(app);
  const { html } = await visitor.get(pagePath(ref));
  const form = markupOf(html, 'form-started');
  const hidden = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const body = new URLSearchParams(hidden.map(([, name = '', value = '']): [string, string] => [name, value]));
  for (const [name, value] of Object.entries(PLACE)) body.set(name, value);
  return { ref, path: pagePath(ref, '/started'), body };
}

/** The fields that the page of a kept form sends again. */
function sentAgain(html: string): URLSearchParams {
  const fields = [...markupOf(html, 'send-again').matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const plain = (text: string) => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
  return new URLSearchParams(fields.map(([, name = '', value = '']): [string, string] => [name, plain(value)]));
}

const fromPage = (ref: string) => ({ referer: `${app.consoleUrl}${pagePath(ref)}` });

test('shows a form sent after the end of the session on the sign-in page, which links back', async () => {
  const visitor = await signedIn(app, await newKey(app, 'dispatcher'));
  const { ref, path, body } = await filledIn(visitor);
  visitor.cookies.clear();
  const response = await visitor.postRaw(path, body.toString(), fromPage(ref));
  expect(response.status).toBe(401);
  expect(textOf(response.html)).toMatch(/What you entered .*Plate KLM 77 .*Olaya <Street>/);
  expect(response.html).toContain(`<input type="hidden" name="next" value="${pagePath(ref)}"`);
  expect(response.html).not.toContain(body.get('form_token'));
  expect((await towOf(app, ref)).state).toBe('requested');
});

test('offers to send a form again after signing in, and applies it once', async () => {
  const key = await newKey(app, 'dispatcher');
  const visitor = await signedIn(app, key);
  const { ref, path, body } = await filledIn(visitor);
  visitor.cookies.clear();
  await visitor.postRaw(path, body.toString(), fromPage(ref));
  const wrong = await visitor.post('/sign-in', { key: 'thk_wrong' });
  expect([wrong.status, textOf(wrong.html).includes('Olaya <Street>')]).toEqual([401, true]);

  const signed = await visitor.post('/sign-in', { key });
  expect(signed.status).toBe(200);
  expect(textOf(signed.html)).toMatch(/Not done .*nothing was saved yet.* Started · .*Olaya <Street>/);
  expect(signed.html).toContain(`<a href="${pagePath(ref)}">Back to the page</a>`);
  expect(signed.html).not.toContain(key);
  for (let round = 0; round < 2; round += 1) {
    const sent = await visitor.postRaw(path, sentAgain(signed.html).toString());
    expect([sent.status, sent.location]).toEqual([303, pagePath(ref)]);
  }
  const tow = await towOf(app, ref);
  expect(tow).toMatchObject({ state: 'started', towed_location: 'Olaya <Street>' });
  expect(tow.facts).toHaveLength(1);
});

test.each(['//elsewhere.example/tows', 'https://elsewhere.example/', '/sign-in'])(
  'offers no form to send to %s after signing in',
  async (path) => {
    const form = { key: app.apiKey, next: '/tasks', unsaved_path: path, unsaved: 'reason=words' };
    const { status, location } = await signedOutVisitor(app).post('/sign-in', form);
    expect([status, location]).toEqual([303, '/tasks']);
  },
);

test('carries no form of another site through the sign-in', async () => {
  const body = new URLSearchParams({ key: 'thk_wrong', unsaved_path: '/tasks', unsaved: 'reason=words' });
  const visitor = signedOutVisitor(app);
  const { status, html } = await visitor.postRaw('/sign-in', body.toString(), { 'sec-fetch-site': 'cross-site' });
  expect([status, html.includes('words')]).toEqual([403, false]);
});

test.each([
  [10_000, true, 200],
  [30_000, false, 303],
])('signs in beside a form of %i signs, and offers to send it again: %s', async (length, isKept, status) => {
  const visitor = signedOutVisitor(app);
  const { html } = await visitor.postRaw('/tasks', `reason=${'<'.repeat(length)}`);
  expect(html.includes('to send the form again.')).toBe(isKept);
  expect((await visitor.post('/sign-in', { key: app.apiKey })).status).toBe(status);
});

test('names photos that were sent after the end of the session', async () => {
  const visitor = await signedIn(app, await newKey(app, 'crew'));
  const ref = await newTow(app);
  visitor.cookies.clear();
  const files = [{ name: 'a.jpg', bytes: Buffer.alloc(300_000) }];
  const response = await visitor.postMultipart(pagePath(ref, '/photos'), { fields: {}, files, headers: fromPage(ref) });
  expect(response.status).toBe(401);
  expect(textOf(response.html)).toContain(`nothing was saved. Sign in to return to the page. Photos · ${ref} `);
});

test('leads from a sign-out without a session to the sign-in page', async () => {
  const { status, location } = await signedOutVisitor(app).post('/sign-out');
  expect([status, location]).toEqual([303, '/sign-in?next=%2Fboard']);
});

test('shows no hidden field of a form sent after the end of the session', async () => {
  const visitor = await signedIn(app, await newKey(app, 'dispatcher'));
  const ref = await newTow(app);
  visitor.cookies.clear();
  const body = new URLSearchParams({ ref, back: '/board?state=requested', crew: 'North' });
  const response = await visitor.postRaw('/board/assign', body.toString());
  expect(response.status).toBe(401);
  expect(textOf(response.html)).toContain('What you entered Crew North ');
  expect(response.html).not.toContain('/board?state=requested');
});

test('keeps a form with the token of an earlier session and applies it once when it is sent again', async () => {
  const key = await newKey(app, 'dispatcher');
  const visitor = await signedIn(app, key);
  const { ref, path, body } = await filledIn(visitor);
  await visitor.post('/sign-in', { key });
  const response = await visitor.postRaw(path, body.toString(), fromPage(ref));
  expect(response.status).toBe(403);
  expect(textOf(response.html)).toContain('Olaya <Street>');
  expect(response.html).toContain(`<a href="${pagePath(ref)}">Back to the page</a>`);
  const again = sentAgain(response.html);
  expect(again.get('form_key')).toBe(body.get('form_key'));
  for (let round = 0; round < 2; round += 1) {
    expect((await visitor.postRaw(path, again.toString())).location).toBe(pagePath(ref));
  }
  const tow = await towOf(app, ref);
  expect(tow).toMatchObject({ state: 'started', towed_location: 'Olaya <Street>', latitude: 24.5 });
  expect(tow.facts).toHaveLength(1);
});

test('keeps nothing of a form sent from another site', async () => {
  const visitor = await signedIn(app);
  const { ref, path, body } = await filledIn(visitor);
  body.set('form_token', 'made up');
  const foreign = { ...fromPage(ref), 'sec-fetch-site': 'cross-site' };
  const refused = await visitor.postRaw(path, body.toString(), foreign);
  expect(refused.status).toBe(403);
  expect(refused.html).not.toContain('KLM 77');
  visitor.cookies.clear();
  const signedOut = await visitor.postRaw(path, body.toString(), foreign);
  expect([signedOut.status, signedOut.html.includes('KLM 77')]).toEqual([401, false]);
});

test('does not show an API key on the page of a kept form', async () => {
  const visitor = await signedIn(app);
  visitor.cookies.clear();
  const response = await visitor.postRaw('/tasks', 'key=thk_secret-text&reason=words');
  expect([response.status, response.html.includes('thk_secret-text')]).toEqual([401, false]);
});

test.each([
  ['/violations/v-77', 'Violation not found', '/violations'],
  ['/ops/deliveries/d-77', 'Delivery not found', '/ops/deliveries'],
  ['/ops/service/k-77', 'Difference not found', '/ops/service'],
])('names a record that is missing at %s and links to the list of such records', async (path, title, list) => {
  const { status, html } = await (await signedIn(app)).get(path);
  const [main = ''] = /<main[^]*<\/main>/.exec(html) ?? [];
  expect(status).toBe(404);
  expect(textOf(main)).toContain(`${title} There is no record with the id ${path.split('/').at(-1)} .`);
  expect(main).toContain(`<a href="${list}">`);
});

test('explains the error and links to the board on every error page', async () => {
  const crew = await signedIn(app, await newKey(app, 'crew'));
  const responses = [
    await crew.get('/no-such-page'),
    await crew.get('/ops/keys'),
    await crew.postRaw('/sign-out', `reason=${'x'.repeat(300_000)}`),
  ];
  expect(responses.map(({ status }) => status)).toEqual([404, 403, 413]);
  for (const { html } of responses) {
    expect(/<h1>([^<]+)<\/h1>/.exec(html)?.[1]).toMatch(/^[A-Z][a-z]+ /);
    expect(html).toMatch(/<main[^]*<a href="\/board">[^]*<\/main>/);
  }
});

test('keeps a form sent while Redis is down and offers to send it again', async () => {
  const visitor = await signedIn(app, await newKey(app, 'dispatcher'));
  const { ref, path, body } = await filledIn(visitor);
  await app.redis.kill();
  const response = await visitor.postRaw(path, body.toString(), fromPage(ref));
  await app.redis.start();
  await eventually(() => app.foundation.redis.ping());
  expect([response.status, response.get('retry-after')]).toEqual([503, '2']);
  expect(textOf(response.html)).toContain('Olaya <Street>');
  expect(sentAgain(response.html).toString()).toBe(body.toString());
});
