import { wordsOf } from '../../src/console/words';
import { useApp } from '../support/app';
import { signedIn, textOf } from './visitor';

const app = useApp({ role: 'console' });

describe('a form', () => {
  test('without the token of its session changes nothing', async () => {
    const visitor = await signedIn(app);
    const other = await signedIn(app);
    const foreign = /name="form_token" value="([^"]+)"/.exec((await other.get('/shortcuts')).html)?.[1] ?? '';
    for (const token of ['', 'wrong', foreign]) {
      const response = await visitor.postRaw('/sign-out', new URLSearchParams({ form_token: token }).toString());
      expect(response.status).toBe(403);
    }
    expect((await visitor.get('/board')).status).toBe(200);
  });

  test('that is too large is refused and not read to its end', async () => {
    const visitor = await signedIn(app);
    for (const language of ['en', 'ar'] as const) {
      visitor.cookies.set('towhook_language', language);
      const response = await visitor.postRaw('/sign-out', `form_token=${'x'.repeat(300_000)}`);
      expect(response.status).toBe(413);
      const { tooLarge } = wordsOf(language).common.errors;
      expect(response.html).toContain(`<title>${tooLarge} ·`);
      expect(response.html).toContain(`<h1>${tooLarge}</h1>`);
      expect(response.html).toContain(wordsOf(language).common.formTooLarge);
    }
  });

  test('that cannot be read is told from one that is too old', async () => {
    const visitor = await signedIn(app);
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=klingon' };
    const response = await visitor.postRaw('/sign-out', 'form_token=x', headers);
    expect(response.status).toBe(415);
    expect(response.html).toContain(`<h1>${wordsOf('en').common.errors.refused}</h1>`);
    expect(textOf(response.html)).toContain(wordsOf('en').common.formUnreadable);
  });
});

test('an address that cannot be decoded is no page, and is dressed as every page is', async () => {
  const response = await (await signedIn(app)).get('/tows/%E0%A4%A');
  expect(response.status).toBe(400);
  expect(response.html).toContain(`<h1>${wordsOf('en').common.notFound}</h1>`);
  expect(response.get('content-security-policy')).toContain("default-src 'none'");
});
