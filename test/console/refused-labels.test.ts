import { LANGUAGES, messagesIn, type Language } from '../../src/console/messages';
import { newKey } from '../operator/client';
import { clearDisk, COMPLETE, report, violationIn } from '../operator/forms';
import { newTow } from '../operator/world';
import { useApp } from '../support/app';
import { refusedWith } from '../support/exchanges';
import { PNG } from '../support/images';
import { outcome } from '../support/violations';
import { markupOf, pagePath } from './tow-world';
import { sendAs, valueIn } from './violation-world';
import { signedIn, textOf, type PageResponse, type Visitor } from './visitor';

/** A refused form names its fields by their labels, with links that lead to them, in the language of the page. */

const app = useApp({ role: 'console' });
beforeEach(() => clearDisk(app));

const REFUSED = outcome({ next: 'refused', hint: null }, { exchange: refusedWith(400, 'Zone not found') });
const FILES = [
  { name: 'a.png', bytes: PNG },
  { name: 'b.png', bytes: Buffer.from('no image') },
];

async function visitorIn(language: Language): Promise<Visitor> {
  const visitor = await signedIn(app, await newKey(app, 'dispatcher'));
  visitor.cookies.set('towhook_language', language);
  return visitor;
}

/** Sends two files, the second of which is no image, with the form of a page. */
async function sendImages(visitor: Visitor, page: string, form: { id: string; path: string }): Promise<PageResponse> {
  const markup = markupOf((await visitor.get(page)).html, form.id);
  const names = ['form_token', 'form_key', ...(markup.includes('name="question"') ? ['question'] : [])];
  const fields = Object.fromEntries(names.map((name) => [name, textOf(valueIn(markup, name))]));
  return visitor.postMultipart(form.path, { fields, files: FILES });
}

async function refusedViolation(): Promise<string> {
  const { id } = violationIn(await report(app, COMPLETE, FILES.slice(0, 1)));
  await sendAs(app, id, REFUSED);
  return `/violations/${id}`;
}

/** The named fields of a refusal. Fails if a link leads nowhere, or a rule is not in the language of the page. */
function namedIn({ status, html }: PageResponse): string[] {
  expect(status).toBe(422);
  const [problem = ''] = /<div class="problem"[^]*?<\/div>/.exec(html) ?? [];
  const places = [...problem.matchAll(/href="#([^"]+)"/g)].map(([, place = '']) => place);
  expect(places.filter((place) => !html.includes(`id="${place}"`))).toEqual([]);
  expect(problem).not.toContain('lang="en"');
  return [...problem.matchAll(/<li>([^]*?)<\/li>/g)].map(([, item = '']) => textOf(item).split(/ ?: /)[0] ?? '');
}

describe.each(LANGUAGES)('refused forms in "%s"', (language) => {
  const { common, towDispatch, violationForm } = messagesIn(language);
  const { fields } = violationForm;

  test.each(['', 'no-such-violation'])('a link to the violation "%s" names its label', async (violation) => {
    const visitor = await visitorIn(language);
    const ref = await newTow(app);
    await visitor.get(pagePath(ref));
    const refused = await visitor.post(pagePath(ref, '/violation'), { violation_id: violation });
    expect(namedIn(refused)).toEqual([towDispatch.link.id]);
  });

  test('a correction of a violation names the labels of its fields', async () => {
    const visitor = await visitorIn(language);
    const path = await refusedViolation();
    await visitor.get(path);
    const entered = { plateNumber: '', zoneId: 'north', latitude: 'x', mobileNumber: 'x'.repeat(2000) };
    const was = Object.keys(entered).map((name): [string, string] => [`was-${name}`, 'something else']);
    const refused = await visitor.post(`${path}/correct`, new URLSearchParams([...was, ...Object.entries(entered)]));
    const labels = [fields.plateNumber, fields.zoneId, fields.latitude, fields.mobileNumber];
    expect(new Set(namedIn(refused))).toEqual(new Set(labels));
  });

  test('a correction without a change names the whole form, which has no place to link to', async () => {
    const visitor = await visitorIn(language);
    const path = await refusedViolation();
    await visitor.get(path);
    expect(namedIn(await visitor.post(`${path}/correct`, {}))).toEqual([common.wholeForm]);
  });

  test('photos of a tow name the image', async () => {
    const visitor = await visitorIn(language);
    const ref = await newTow(app);
    const form = { id: 'form-photos', path: pagePath(ref, '/photos') };
    expect(namedIn(await sendImages(visitor, pagePath(ref), form))).toEqual([common.image({ number: '2' })]);
  });

  test('other images of a violation name the image', async () => {
    const visitor = await visitorIn(language);
    const path = await refusedViolation();
    const form = { id: 'form-images', path: `${path}/images` };
    expect(namedIn(await sendImages(visitor, path, form))).toEqual([common.image({ number: '2' })]);
  });
});
