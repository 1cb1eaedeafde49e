import { addressOf, readQuery } from '../../src/console/pages/board/model';
import { messagesIn } from '../../src/console/messages';
import { api, newKey, towPath } from '../operator/client';
import { answerHead, deliver, newTow, record, towAfter } from '../operator/world';
import { towInvoice } from '../support/stores';
import { useApp } from '../support/app';
import { chipsIn, linkIn, questionIn, rowIn, rowsIn } from './board';
import { signedIn, textOf } from './visitor';
import { changeMeta } from '../support/stored-records';

const app = useApp({ role: 'console', environment: { OVERDUE_REQUESTED_MINUTES: '45' } });
const HOUR_MS = 3_600_000;

const board = async (query = '') => (await (await signedIn(app)).get(`/board${query}`)).html;
const refsOn = async (query = '') => rowsIn(await board(query));

/** Creates a tow that was requested `ageMs` ago. */
async function oldTow(ageMs: number): Promise<string> {
  const ref = await newTow(app);
  const { redis, clock } = app.foundation;
  const requestedAt = new Date(clock.nowMs() - ageMs).toISOString();
  await changeMeta(redis, ref, { requestedAt });
  await redis.zadd('{towhook-main}:index:tows:since:requested', clock.nowMs() - ageMs, ref);
  return ref;
}

describe('console: board list', () => {
  test('lists open tows newest first on the board by default', async () => {
    const first = await newTow(app);
    const over = await towAfter(app, 'canceled');
    const second = await towAfter(app, 'started');

    expect(await refsOn()).toEqual([second, first]);
    expect(await refsOn('?order=oldest')).toEqual([first, second]);
    expect(await refsOn('?state=all')).toEqual([second, over, first]);
    expect(await refsOn('?state=canceled,started')).toEqual([second, over]);
  });

  test('finds a tow on the board by either reference, plate in either script or invoice number, in any state', async () => {
    const ref = await towAfter(app, 'started');
    await newTow(app);
    await deliver(app, 'tow_invoice', towInvoice(ref));
    await record(app, ref, 'canceled').catch(() => {});
    const typed = [ref, ref.toLowerCase(), ref.replace('TW-', 'V-'), 'abj1234', 'ا ب ح ١٢٣٤', `INV-${ref}`];
    for (const text of typed) expect(await refsOn(`?q=${encodeURIComponent(text)}`)).toEqual([ref]);
  });

  test('splits the board into pages and links back to the first page', async () => {
    const refs: string[] = [];
    for (let made = 0; made < 51; made += 1) refs.unshift(await newTow(app));
    const visitor = await signedIn(app);
    const first = (await visitor.get('/board?state=requested')).html;
    expect(rowsIn(first)).toEqual(refs.slice(0, 50));
    const second = (await visitor.get(linkIn(first, 'rel="next"'))).html;
    expect(rowsIn(second)).toEqual(refs.slice(50));
    expect(second).toContain('href="/board?state=requested"');
  });

  test.each(['?cursor=broken', '?state=nonsense', '?order=sideways', '?attention=maybe'])(
    'ignores an invalid value in the board query %s',
    async (query) => {
      const ref = await newTow(app);
      expect(await refsOn(query)).toEqual([ref]);
    },
  );
});

describe('console: board filters', () => {
  test('combines board filters and links each chip to the board with its filter toggled', async () => {
    const refused = await towAfter(app, 'started');
    await answerHead(app, refused, 'refused');
    const unsent = await towAfter(app, 'started');
    await api(app).post(towPath(unsent, '/assignment')).send({ crew: 'North' });
    const visitor = await signedIn(app);
    const follow = async (html: string, chip: string) =>
      (await visitor.get(chipsIn(html).get(chip)?.href ?? '/nowhere')).html;

    const all = (await visitor.get('/board')).html;
    const withUnsent = await follow(all, 'Unsent');
    expect(rowsIn(withUnsent)).toEqual([unsent, refused]);
    const both = await follow(withUnsent, 'Needs action');
    expect(rowsIn(both)).toEqual([refused]);
    expect(rowsIn(await follow(both, 'Unsent'))).toEqual([refused]);
    expect(rowsIn(await follow(await follow(both, 'Unsent'), 'Needs action'))).toEqual([unsent, refused]);
    expect(await refsOn('?crew=North')).toEqual([unsent]);
    expect(await refsOn('?crew=')).toEqual([refused]);
    expect(await refsOn('?crew=North&attention=true')).toEqual([]);
  });

  test('lists as many tows as the count of each board filter chip', async () => {
    await oldTow(HOUR_MS);
    await newTow(app);
    const over = await towAfter(app, 'started');
    await answerHead(app, over, 'refused');
    await record(app, over, 'canceled');
    const html = await board();
    const chips = chipsIn(html);
    const counted = [...chips].filter(([label]) => label !== 'Unassigned');
    const counts = Object.fromEntries(counted.map(([label, { count }]) => [label, count]));
    expect(counts).toEqual({
      Open: 2,
      Requested: 2,
      Started: 0,
      Detained: 0,
      Released: 0,
      Canceled: 1,
      All: 3,
      'Needs action': 1,
      Unsent: 1,
      Overdue: 1,
    });
    for (const [label, { href }] of counted) {
      const { length } = await refsOn(href.replace('/board', ''));
      expect([label, length]).toEqual([label, counts[label]]);
    }
  });

  test('offers a Mine filter on the board to a person with the name of a crew', async () => {
    const ref = await newTow(app);
    await newTow(app);
    await api(app).post(towPath(ref, '/assignment')).send({ crew: 'bootstrap' });
    const mine = chipsIn(await board()).get('Mine');
    expect(rowsIn(await board(mine?.href.replace('/board', '')))).toEqual([ref]);
  });

  test.each([
    '',
    '?state=requested,started',
    '?state=open&attention=true',
    '?attention=true&unsent=true&overdue=true',
    '?crew=',
    '?state=all&crew=North&order=oldest',
    '?q=ABJ+1234&order=newest',
  ])('reads the board filters "%s" from a URL and writes the same URL', (query) => {
    const address = addressOf(readQuery(new URLSearchParams(query)));
    expect(address).toBe(`/board${query}`);
  });
});

describe('console: board row', () => {
  test('shows the state of each report, the open task and the hold of a tow on its board row', async () => {
    const ref = await towAfter(app, 'started', 'detained');
    await answerHead(app, ref, 'accepted');
    await answerHead(app, ref, 'refused');
    await api(app).post(towPath(ref, '/holds')).send({ reason: 'police' });
    const text = rowIn(await board(), ref);
    expect(text).toContain('Started: Accepted');
    expect(text).toMatch(/Detained: Refused/);
    expect(text).toContain('Decide: Detained was refused · HTTP 400: Missing required field');
    expect(text).toContain('On hold');
    expect(text).toContain('1 task');
    expect(text).toContain('A B J 1234 ا ب ح ١٢٣٤');
    expect(text).toContain('King Fahd Road, Riyadh');
  });

  test('shows the next attempt of a failed report on its board row', async () => {
    const ref = await towAfter(app, 'started');
    await answerHead(app, ref, 'retry');
    const text = rowIn(await board(), ref);
    expect(text).toMatch(/Started: \d\d:\d\d:\d\d/);
    expect(text).toContain('Started failed and will be retried');
  });

  test('shows on the board row how long a tow has been in its state and whether it is overdue', async () => {
    const [late, fresh] = [await oldTow(HOUR_MS + 300_000), await newTow(app)];
    const html = await board();
    expect(rowIn(html, late)).toMatch(/Requested 1 h 5 min .*Overdue: not started/);
    expect(rowIn(html, fresh)).toMatch(/Requested now/);
    expect(rowIn(html, fresh)).not.toContain('Overdue');
    expect(await refsOn('?overdue=true')).toEqual([late]);
  });

  test('links the board row of a tow with special characters in its reference', async () => {
    const ref = await newTow(app, { towing_reference_id: 'TW/1 "<&é' });
    const html = await board();
    expect(rowsIn(html)).toEqual([ref]);
    expect(html).toContain(`href="/tows/${encodeURIComponent(ref)}"`);
    expect(html).not.toContain('"<&é');
  });
});

describe('console: empty board', () => {
  test('explains on a board without tows how the first tow arrives', async () => {
    expect(textOf(await board())).toContain('POST /tow-request');
  });

  test('explains an empty board by its filters or its search', async () => {
    await towAfter(app, 'canceled');
    expect(textOf(await board())).toContain('No open tows');
    expect(textOf(await board('?state=started'))).toContain('No tow matches these filters');
    const searched = textOf(await board('?q=nothing&state=started'));
    expect(searched).toContain('No results for “nothing”');
    expect(searched).toContain('Search in all states');
  });

  test('escapes the search text on the board', async () => {
    const html = await board(`?q=${encodeURIComponent('"><script>alert(1)</script>')}`);
    expect(html).not.toContain('<script>alert');
  });
});

test('translates the board into Arabic and keeps references and plates unchanged', async () => {
  const ref = await towAfter(app, 'started');
  const visitor = await signedIn(app);
  visitor.cookies.set('towhook_language', 'ar');
  const { html } = await visitor.get('/board');
  const { terms } = messagesIn('ar');
  expect(rowIn(html, ref)).toContain(terms.towStates.started);
  expect(rowIn(html, ref)).toContain(`${terms.operations.started}: ${terms.reportStates.pending}`);
  expect(html).toContain(`<bdi class="ref">${ref}</bdi>`);
  expect(html).toContain('<bdi dir="ltr">A B J 1234</bdi>');
  expect(chipsIn(html).get('المفتوحة')?.count).toBe(1);
});

test('lets a long towing reference wrap on the board and puts it into the title attribute', async () => {
  const long = `TW-${'x'.repeat(197)}`;
  await newTow(app, { towing_reference_id: long });
  expect(await board()).toContain(`<bdi class="ref long" title="${long}">${long}</bdi>`);
});

test('offers no assignment of a crew on the board for a tow that is over', async () => {
  const [open, over] = [await newTow(app), await towAfter(app, 'canceled')];
  const visitor = await signedIn(app, await newKey(app, 'dispatcher', 'dispatcher of a tow that is over'));
  const { html } = await visitor.get('/board?state=requested,canceled');
  expect(rowsIn(html).toSorted()).toEqual([open, over].toSorted());
  expect(questionIn(html, open)).not.toBe('');
  expect(questionIn(html, over)).toBe('');
});

test('shows the refusal and the entered crew when the tow of the form is over', async () => {
  const ref = await newTow(app);
  const visitor = await signedIn(app, await newKey(app, 'dispatcher', 'dispatcher of a canceled tow'));
  const back = '/board?state=requested,canceled';
  const question = questionIn((await visitor.get(back)).html, ref);
  await record(app, ref, 'canceled');
  const response = await visitor.post('/board/assign', { ref, back, question, crew: 'North crew' });
  expect(response.status).toBe(409);
  const [, problem = ''] = response.html.split('class="problem"');
  expect(textOf(problem.slice(0, problem.indexOf('</div>')))).toContain('North crew');
});
