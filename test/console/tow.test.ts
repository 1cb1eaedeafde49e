import { towView } from '../../src/contracts/operator';
import type { Role } from '../../src/domain/vocabulary';
import { api, newKey, towOf } from '../operator/client';
import { answerHead, newTow, newViolation, towAfter, WHEREABOUTS } from '../operator/world';
import { useApp } from '../support/app';
import { apiPath, formsOf, pagePath, textIn } from './tow-world';
import { signedIn, textOf } from './visitor';

const app = useApp({ role: 'console', environment: { OVERDUE_REQUESTED_MINUTES: '0' } });

async function visitorAs(role: Role) {
  return signedIn(app, await newKey(app, role));
}

describe('console: page of a tow', () => {
  test('shows reference, plate in both scripts, state, place with map links, violation and crew of a tow', async () => {
    const violation = await newViolation(app, { id: 'case-1' });
    const ref = await newTow(app, { metadata: { id: 'case-1' } });
    await api(app).post(apiPath(ref, '/assignment')).send({ crew: 'North crew', truck: 'T-7' });
    const visitor = await visitorAs('viewer');
    const { status, html } = await visitor.get(pagePath(ref));
    expect(status).toBe(200);
    const head = textIn(html, 'tow-head');
    for (const text of [
      ref,
      'Requested',
      'A B J 1235',
      'ا ب ح ١٢٣٥',
      'Wrong parking',
      'King Fahd Road, Riyadh',
      'North crew',
      'T-7',
      violation,
    ]) {
      expect(head).toContain(text);
    }
    expect(html).toContain(
      'href="https://www.openstreetmap.org/?mlat=24.7136&amp;mlon=46.6753#map=18/24.7136/46.6753" rel="noreferrer"',
    );
    expect(html).toContain('href="geo:24.7136,46.6753"');
    expect(head).toContain('OpenStreetMap (external site)');
    expect(html).toContain(`href="/violations/${violation}"`);
  });

  test('loads no foreign resource on the page of a tow', async () => {
    const { html } = await (await visitorAs('viewer')).get(pagePath(await towAfter(app, 'started')));
    expect(html).not.toMatch(/<(?:img|script|link|iframe)[^>]+(?:src|href)="(?:https?:)?\/\//);
  });

  test('says of a tow without reports which fact comes next, and nothing about reports', async () => {
    const visitor = await visitorAs('dispatcher');
    const { html } = await visitor.get(pagePath(await newTow(app)));
    expect(textIn(html, 'tow-why')).toBe('Status: Next: Started or Canceled.');
    expect(textOf(html)).toContain('No reports yet.');
  });

  test('explains in one sentence why a tow waits, in both languages', async () => {
    const ref = await towAfter(app, 'started', 'detained');
    await answerHead(app, ref, 'refused');
    const visitor = await visitorAs('viewer');
    expect(textIn((await visitor.get(pagePath(ref))).html, 'tow-why')).toBe(
      'Status: The service refused the report “Started”; a decision is needed ( HTTP 400: Missing required field ).',
    );
    visitor.cookies.set('towhook_language', 'ar');
    const { html } = await visitor.get(pagePath(ref));
    expect(html).toContain('<html lang="ar" dir="rtl"');
    expect(textIn(html, 'tow-why')).toContain('رفضت الخدمة تقرير «بدء السحب»؛ مطلوب قرار');
    expect(textIn(html, 'tow-why')).toContain('HTTP 400: Missing required field');
  });

  test('counts down to the next attempt of a failed report', async () => {
    const ref = await towAfter(app, 'started');
    await answerHead(app, ref, 'retry');
    const { html } = await (await visitorAs('viewer')).get(pagePath(ref));
    expect(textIn(html, 'tow-why')).toMatch(/has not been accepted after 1 attempt .*next attempt in (?:1 min|\d+ s)/);
    expect(html).toMatch(/data-countdown="\d{5}"/);
    expect(html).toContain('data-over="next attempt now" data-sentence="next attempt in {time}"');
  });

  test('links the JSON of a tow and serves it to the session', async () => {
    const ref = await newTow(app);
    const visitor = await visitorAs('viewer');
    expect((await visitor.get(pagePath(ref))).html).toContain(`href="${apiPath(ref)}"`);
    const { status, html } = await visitor.get(apiPath(ref));
    expect(status).toBe(200);
    expect(towView.parse(JSON.parse(html))).toEqual(await towOf(app, ref));
  });

  test('answers a refresh of a tow page with its part only and a digest per form', async () => {
    const ref = await newTow(app);
    const visitor = await visitorAs('dispatcher');
    const offers = ({ html }: { html: string }) =>
      [...html.matchAll(/id="(live-[^"]+)"[^>]*data-live-form="(\w+)"/g)].map(([, id, digest]) => `${id} ${digest}`);
    const page = await visitor.get(pagePath(ref));
    const part = await visitor.get(pagePath(ref), { 'hx-request': 'true' });
    expect(part.html).not.toContain('<html');
    expect(part.html).toContain(`data-watch="tow:${ref}"`);
    expect(offers(page).length).toBeGreaterThan(3);
    expect(offers(part)).toEqual(offers(page));
    await api(app).post(apiPath(ref, '/started')).send(WHEREABOUTS);
    expect(offers(await visitor.get(pagePath(ref)))).not.toEqual(offers(page));
  });

  test('answers 404 for an unknown tow and explains where it may be', async () => {
    const { status, html } = await (await visitorAs('viewer')).get('/tows/TW%2F..%2F%3Cb%3E');
    expect(status).toBe(404);
    expect(textOf(html)).toContain(
      'Tow not found There is no tow with the reference TW/../<b> . Its request may still be in processing',
    );
    expect(textOf(html)).toContain('archive');
  });

  test('serves the page and forms of a tow with special characters in its reference', async () => {
    const ref = await newTow(app, { towing_reference_id: 'TW/../1 ٣ <x>&"' });
    const visitor = await visitorAs('dispatcher');
    const { status, html } = await visitor.get(pagePath(ref));
    expect(status).toBe(200);
    expect(textIn(html, 'tow-head')).toContain(ref);
    const sent = await visitor.post(pagePath(ref, '/notes'), { text: 'here' });
    expect(sent.location).toBe(pagePath(ref));
    expect(textIn((await visitor.get(pagePath(ref))).html, 'notes')).toContain('here');
  });
});

describe('console: forms offered by role', () => {
  test.each<[Role, string[]]>([
    ['viewer', []],
    ['crew', ['started', 'steps', 'steps', 'notes', 'photos']],
  ])('offers a %s only the forms of that role on the page of a tow', async (role, expected) => {
    const ref = await newTow(app);
    const { html } = await (await visitorAs(role)).get(pagePath(ref));
    expect(new Set(formsOf(html, ref))).toEqual(new Set(expected));
  });

  test('offers a dispatcher every form of a new tow', async () => {
    const ref = await newTow(app);
    const { html } = await (await visitorAs('dispatcher')).get(pagePath(ref));
    expect(formsOf(html, ref)).toEqual([
      'started',
      'canceled',
      'assignment',
      'steps',
      'holds',
      'notes',
      'photos',
      'violation',
    ]);
  });

  test('offers the cancellation of a detained tow to ops only and explains it to a dispatcher', async () => {
    const ref = await towAfter(app, 'started', 'detained');
    const dispatcher = await (await visitorAs('dispatcher')).get(pagePath(ref));
    expect(formsOf(dispatcher.html, ref)).not.toContain('canceled');
    expect(textIn(dispatcher.html, 'next')).toContain('Canceled (requires the role ops)');
    const ops = await (await visitorAs('ops')).get(pagePath(ref));
    expect(formsOf(ops.html, ref)).toContain('canceled');
  });

  test('refuses a tow form that is not offered to the role with 403', async () => {
    const ref = await towAfter(app, 'started');
    const crew = await visitorAs('crew');
    await crew.get(pagePath(ref));
    expect((await crew.post(pagePath(ref, '/invoice'), { vehicle_type: 'HEAVY' })).status).toBe(403);
    expect((await towOf(app, ref)).reports).toHaveLength(1);
  });
});

test('watches a tow under its encoded reference, because spaces separate the topics of a page', async () => {
  const ref = await newTow(app, { towing_reference_id: 'TW 2026 % 1' });
  const { html } = await (await signedIn(app)).get(`/tows/${encodeURIComponent(ref)}`);
  expect(html).toContain('data-watch="tow:TW%202026%20%25%201"');
});
