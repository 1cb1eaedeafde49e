import { api, newKey, towIn, towOf } from '../operator/client';
import { imageOf, PNG } from '../support/images';
import { answerHead, newTow, newViolation, record, towAfter } from '../operator/world';
import { useApp } from '../support/app';
import { rowIn } from './board';
import { apiPath, formsOf, markupOf, pagePath, sendForm, textIn } from './tow-world';
import { signedIn, textOf, type Visitor } from './visitor';

const app = useApp({ role: 'console' });
let visitor: Visitor;
beforeEach(async () => {
  visitor = await signedIn(app, await newKey(app, 'dispatcher'));
});

async function assign(ref: string, crew: string): Promise<void> {
  towIn(await api(app).post(apiPath(ref, '/assignment')).send({ crew }));
}

test('assigns a tow to a crew and a truck, to another crew, and removes the assignment', async () => {
  const ref = await newTow(app);
  await visitor.get(pagePath(ref));
  const assigned = await sendForm(visitor, pagePath(ref, '/assignment'), { crew: 'فريق الشمال', truck: 'T-7' });
  expect(textOf(assigned.html)).toContain('The crew is assigned.');
  expect(textIn(assigned.html, 'crew')).toContain('فريق الشمال · T-7');
  await sendForm(visitor, pagePath(ref, '/assignment'), { crew: 'South' });
  expect((await towOf(app, ref)).dispatch.assignment).toMatchObject({ crew: 'South', truck: null });
  const unassigned = await sendForm(visitor, pagePath(ref, '/unassignment'));
  expect(textIn(unassigned.html, 'crew')).toContain('No crew is assigned.');
});

test('keeps the entered values of a refused crew assignment on the page of a tow', async () => {
  const ref = await newTow(app);
  await visitor.get(pagePath(ref));
  const response = await visitor.post(pagePath(ref, '/assignment'), { crew: 'x'.repeat(101), truck: 'T-7' });
  expect(response.status).toBe(422);
  expect(markupOf(response.html, 'crew')).toContain('value="T-7"');
  expect(markupOf(response.html, 'crew')).toContain('id="assign-crew-error"');
});

test('refuses to replace or remove an assignment that another person has changed, and keeps the input', async () => {
  const ref = await newTow(app);
  await assign(ref, 'South');
  await visitor.get(pagePath(ref));
  await assign(ref, 'West');
  const removed = await visitor.post(pagePath(ref, '/unassignment'));
  expect(removed.status).toBe(409);
  expect(textOf(removed.html)).toContain('This has changed since the page was shown.');

  await assign(ref, 'East');
  const replaced = await visitor.post(pagePath(ref, '/assignment'), { crew: 'North', truck: 'T-7' });
  expect(replaced.status).toBe(409);
  expect(markupOf(replaced.html, 'crew')).toContain('value="T-7"');
  expect((await towOf(app, ref)).dispatch.assignment?.crew).toBe('East');
});

test('refuses a yard when another person has recorded one, and accepts it after a change of the state alone', async () => {
  const ref = await newTow(app);
  await record(app, ref, 'started');
  await visitor.get(pagePath(ref));
  await record(app, ref, 'detained');
  await sendForm(visitor, pagePath(ref, '/yard'), { yard: 'North' });
  await api(app).post(apiPath(ref, '/yard')).send({ yard: 'South', slot: 'B-12' });
  const refused = await visitor.post(pagePath(ref, '/yard'), { yard: 'North', slot: 'A-1' });
  expect(refused.status).toBe(409);
  expect((await towOf(app, ref)).dispatch.yard).toMatchObject({ yard: 'South', slot: 'B-12' });
});

test('offers a crew only the next step and refuses an earlier step with 409', async () => {
  const ref = await newTow(app);
  const crew = await signedIn(app, await newKey(app, 'crew'));
  await crew.get(pagePath(ref));
  await sendForm(crew, pagePath(ref, '/steps'), { step: 'accepted' });
  const response = await sendForm(crew, pagePath(ref, '/steps'), { step: 'on_scene' });
  const offered = [...markupOf(response.html, 'crew').matchAll(/name="step" value="(\w+)"/g)].map(([, step]) => step);
  expect(offered).toEqual(['hooked']);
  const again = await crew.post(pagePath(ref, '/steps'), { step: 'accepted' });
  expect(again.status).toBe(409);
  expect(textOf(again.html)).toContain('Not done');
});

test('offers the yard form only after the tow has started', async () => {
  const ref = await newTow(app);
  expect(formsOf((await visitor.get(pagePath(ref))).html, ref)).not.toContain('yard');
  await record(app, ref, 'started');
  await visitor.get(pagePath(ref));
  const response = await sendForm(visitor, pagePath(ref, '/yard'), { yard: 'North', slot: 'B-12' });
  expect(textIn(response.html, 'yard')).toContain('North · Slot B-12');
});

test('explains what blocks a release on the page of a tow and on the board in both languages', async () => {
  const ref = await towAfter(app, 'started', 'detained', 'invoice');
  for (let owed = 0; owed < 3; owed += 1) await answerHead(app, ref, 'accepted');
  await visitor.get(pagePath(ref));
  const held = await sendForm(visitor, pagePath(ref, '/holds'), { reason: 'police' });
  const why = textIn(held.html, 'tow-why');
  const blockers = 'on hold: no release before the hold is lifted; payment required before the release';
  expect(why).toBe(`Status: All reports are accepted; ${blockers}; possible now: Canceled, recorded by the role ops.`);
  const row = textOf(rowIn((await visitor.get('/board')).html, ref));
  expect(row).toContain('On hold: no release · Payment required before release · Possible now: Canceled');
  visitor.cookies.set('towhook_language', 'ar');
  expect(textIn((await visitor.get(pagePath(ref))).html, 'tow-why')).toMatch(
    /لا إفراج قبل رفعه؛ الدفع مطلوب قبل الإفراج؛ الممكن الآن: الإلغاء/,
  );
  const arabic = textOf(rowIn((await visitor.get('/board')).html, ref));
  expect(arabic).toContain('عليها تحفّظ: لا إفراج');
  expect(arabic).toContain('الممكن الآن: الإلغاء');
});

test('places and lifts a hold with reasons and offers to lift open holds only', async () => {
  const ref = await newTow(app);
  await visitor.get(pagePath(ref));
  const held = await sendForm(visitor, pagePath(ref, '/holds'), { reason: 'police' });
  expect(textIn(held.html, 'holds')).toContain('open police');
  const id = (await towOf(app, ref)).dispatch.holds[0]?.id ?? '';
  const unreasoned = await visitor.post(pagePath(ref, `/holds/${id}/lift`), { reason: '' });
  expect(unreasoned.status).toBe(422);
  expect(unreasoned.html).toContain(`id="lift-${id}-reason-error"`);
  const lifted = await sendForm(visitor, pagePath(ref, `/holds/${id}/lift`), { reason: 'settled' });
  expect(textIn(lifted.html, 'holds')).toContain('lifted: settled');
  expect(formsOf(lifted.html, ref)).not.toContain(`holds/${id}/lift`);
});

test('escapes markup in a note and refuses an empty note with 422', async () => {
  const ref = await newTow(app);
  await visitor.get(pagePath(ref));
  const response = await sendForm(visitor, pagePath(ref, '/notes'), { text: 'gate <b>B</b>\nask for Ali' });
  expect(response.html).toContain('gate &lt;b&gt;B&lt;/b&gt;');
  expect((await visitor.post(pagePath(ref, '/notes'), { text: ' ' })).status).toBe(422);
});

test('accepts a note of the greatest length whose line breaks a browser sends as CRLF, and stores them as LF', async () => {
  const ref = await newTow(app);
  await visitor.get(pagePath(ref));
  const lines = `${'x'.repeat(999)}\n${'y'.repeat(1000)}`;
  await sendForm(visitor, pagePath(ref, '/notes'), { text: lines.replace('\n', '\r\n') });
  expect((await towOf(app, ref)).dispatch.notes.map(({ text }) => text)).toEqual([lines]);
});

test('links a violation manually and takes the plate from it', async () => {
  const ref = await newTow(app);
  const violation = await newViolation(app);
  await visitor.get(pagePath(ref));
  const wrong = await visitor.post(pagePath(ref, '/violation'), { violation_id: 'vio-none' });
  expect(wrong.status).toBe(422);
  expect(markupOf(wrong.html, 'link')).toContain('value="vio-none"');
  const response = await sendForm(visitor, pagePath(ref, '/violation'), { violation_id: violation });
  expect(textIn(response.html, 'tow-head')).toContain('A B J 1235');
});

test('refuses to replace a violation that another person has linked meanwhile, and keeps the input', async () => {
  const ref = await newTow(app);
  const [own, other] = [await newViolation(app), await newViolation(app)];
  await visitor.get(pagePath(ref));
  await api(app).post(apiPath(ref, '/violation')).send({ violation_id: other }).expect(202);
  const refused = await visitor.post(pagePath(ref, '/violation'), { violation_id: own });
  expect(refused.status).toBe(409);
  expect(textOf(refused.html)).toContain('This has changed since the page was shown.');
  expect(markupOf(refused.html, 'link')).toContain(`value="${own}"`);
  expect((await towOf(app, ref)).violation_id).toBe(other);
  await sendForm(visitor, pagePath(ref, '/violation'), { violation_id: own });
  expect((await towOf(app, ref)).violation_id).toBe(own);
});

test('offers only notes, photos and the violation link for a finished tow', async () => {
  const ref = await towAfter(app, 'canceled');
  const { html } = await visitor.get(pagePath(ref));
  expect(formsOf(html, ref).filter((action) => !action.startsWith('reports/'))).toEqual([
    'notes',
    'photos',
    'violation',
  ]);
});

describe('console: photos of a tow', () => {
  async function upload(
    ref: string,
    by: Visitor,
    changes: { token?: string; files?: readonly (readonly [string, Buffer])[] } = {},
  ) {
    const { html } = await by.get(pagePath(ref));
    const form_token = changes.token ?? /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? '';
    const files = (changes.files ?? [['front.png', PNG]]).map(([name, bytes]) => ({ name, bytes }));
    return by.postMultipart(pagePath(ref, '/photos'), { fields: { form_token, form_key: `photos-${ref}` }, files });
  }

  test('uploads a photo from the page of a tow and serves it to the session', async () => {
    const ref = await newTow(app);
    expect((await upload(ref, visitor)).status).toBe(303);
    const { html } = await visitor.get(pagePath(ref));
    const address = /<img src="([^"]+)" alt="Photo front.png"/.exec(html)?.[1] ?? '';
    expect(address).toBe(apiPath(ref, `/photos/${(await towOf(app, ref)).dispatch.photos[0]?.id}`));
    expect((await visitor.get(address)).get('content-type')).toBe('image/png');
  });

  test('stores a photo once when its form is sent twice', async () => {
    const ref = await newTow(app);
    await upload(ref, visitor);
    await upload(ref, visitor);
    expect((await towOf(app, ref)).dispatch.photos).toHaveLength(1);
  });

  test.each([
    ['a file that is not an image', [['a.txt', Buffer.from('text')]], 422, 'Image 1 : must be a whole image'],
    ['an image that is too large', [['a.png', imageOf(11 * 1024 * 1024)]], 413, 'must be at most 9.5 MiB in all'],
  ] as const)('refuses %s as a photo and explains why', async (_name, files, status, text) => {
    const ref = await newTow(app);
    const response = await upload(ref, visitor, { files });
    expect(response.status).toBe(status);
    expect(response.html).toContain('role="alert"');
    expect(textOf(response.html)).toContain(text);
    expect((await towOf(app, ref)).dispatch.photos).toEqual([]);
  });

  test('refuses a photo with a wrong form token or from a viewer with 403', async () => {
    const ref = await newTow(app);
    expect((await upload(ref, visitor, { token: 'made up' })).status).toBe(403);
    expect((await upload(ref, await signedIn(app, await newKey(app, 'viewer')))).status).toBe(403);
    expect((await towOf(app, ref)).dispatch.photos).toEqual([]);
  });
});

test('shows the actor and the crew of an assignment on the timeline', async () => {
  const ref = await newTow(app);
  await assign(ref, 'North');
  expect(textIn((await visitor.get(pagePath(ref))).html, 'timeline')).toContain(
    'Crew assigned · by bootstrap crew: North',
  );
});
