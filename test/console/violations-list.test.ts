import { z } from 'zod';
import { VIOLATION_STATES } from '../../src/domain/vocabulary';
import { recordsOf } from '../../src/store/outbox/records';
import { refusedWith } from '../support/exchanges';
import { join, outcome, takenAs } from '../support/violations';
import { api, newKey } from '../operator/client';
import { report, REQUIRED, violationIn } from '../operator/forms';
import { newViolation } from '../operator/world';
import { useApp } from '../support/app';
import { sendAs } from './violation-world';
import { signedIn, textOf, type Visitor } from './visitor';

const app = useApp({ role: 'console' });

const idsIn = (html: string) => [...html.matchAll(/<tr[^>]* id="violation-([^"]+)"/g)].map(([, id]) => id);
const rowOf = (html: string, id: string) => {
  const from = html.slice(html.indexOf(`id="violation-${id}"`));
  return from.slice(0, from.indexOf('</tr>'));
};
const asked = z.record(z.string(), z.union([z.string(), z.array(z.string())]));
/** Posts the refresh of a displayed violation list, as its script does. */
const refresh = (visitor: Visitor, html: string) => {
  const values = /hx-vals="([^"]+)"/.exec(html)?.[1] ?? '';
  const fields = asked.parse(JSON.parse(values.replaceAll('&quot;', '"').replaceAll('&amp;', '&')));
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) for (const each of [value].flat()) form.append(name, each);
  return visitor.post('/violations/live', form);
};
const several = async (count: number) => {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) ids.push(await newViolation(app));
  return ids.toReversed();
};

describe('console: violation list', () => {
  test('lists violations newest first with their state', async () => {
    const response = await report(app, { ...REQUIRED, plateNumber: 'أ ب ح ١٢٣٤', metadata: '{"id":"case-1"}' });
    const { id } = violationIn(response);
    const visitor = await signedIn(app);
    const [newer] = await several(1);
    expect(idsIn((await visitor.get('/violations')).html)).toEqual([newer, id]);

    await sendAs(app, id, takenAs('V-20261121-LIST01'));
    const row = rowOf((await visitor.get('/violations')).html, id);
    expect(textOf(row)).toMatch(/V-20261121-LIST01.*case-1.*A B J 1234.*ا ب ح ١٢٣٤.*Wrong parking.*Accepted.*No tow/);
    expect(row).toContain(REQUIRED.zoneId);
    expect(row).toContain(`href="/violations/${id}"`);
  });

  test('links the tow of a violation in the violation list', async () => {
    const [id = ''] = await several(1);
    await sendAs(app, id, takenAs('V-20261121-LIST02'));
    await join({ records: recordsOf(app.foundation.redis) }, id, {
      towingReference: 'TW-20261121-LIST02',
      reference: 'V-20261121-LIST02',
    });
    const { html } = await (await signedIn(app)).get('/violations');
    expect(rowOf(html, id)).toContain('href="/tows/TW-20261121-LIST02"');
  });

  test('shows the last service error of a refused violation in the list', async () => {
    const [id = ''] = await several(1);
    const exchange = refusedWith(400, 'Zone not found');
    await sendAs(app, id, outcome({ next: 'refused', hint: null }, { exchange }));
    const row = textOf(rowOf((await (await signedIn(app)).get('/violations')).html, id));
    expect(row).toContain('Refused');
    expect(row).toContain('HTTP 400: Zone not found');
  });

  test('filters the violation list by state', async () => {
    const [waived = '', waiting = ''] = await several(2);
    await api(app).post(`/api/violations/${waived}/waive`).send({ reason: 'twice' });
    const other = await signedIn(app, await newKey(app, 'viewer', 'viewer of lists'));
    const { html } = await other.get('/violations');
    for (const state of VIOLATION_STATES) expect(html).toContain(`href="/violations?state=${state}"`);
    expect(idsIn((await other.get('/violations?state=waived')).html)).toEqual([waived]);
    expect(idsIn((await other.get('/violations?state=pending')).html)).toEqual([waiting]);
    expect(idsIn((await other.get('/violations?state=nonsense')).html)).toEqual([waived, waiting]);
  });

  test.each([
    ['the plate in Latin', 'abj 12'],
    ['the plate in Arabic', 'أ ب ح ١٢'],
    ['its id', ''],
    ['its metadata id', 'case-of'],
    ['its reference at the service', 'v-20261121-find'],
  ])('finds a violation in the list by %s', async (_by, typed) => {
    const response = await report(app, { ...REQUIRED, plateNumber: 'ABJ 1234', metadata: '{"id":"case-of-search"}' });
    const { id } = violationIn(response);
    await report(app, { ...REQUIRED, plateNumber: 'XYZ 9' });
    await sendAs(app, id, takenAs('V-20261121-FIND01'));
    const query = new URLSearchParams({ q: typed === '' ? id.slice(0, 12) : typed });
    expect(idsIn((await (await signedIn(app)).get(`/violations?${query.toString()}`)).html)).toEqual([id]);
  });

  test('explains an empty violation list by its filter or its search', async () => {
    const visitor = await signedIn(app);
    const messageOf = async (path: string) => textOf((await visitor.get(path)).html);
    expect(await messageOf('/violations')).toContain('No violations yet');
    expect(await messageOf('/violations?state=held')).toContain('No violation in this state');
    const { html } = await visitor.get('/violations?state=held&q=%3Cb%3Enothing');
    expect(textOf(html)).toContain('No results for “<b>nothing”');
    expect(html).toContain('href="/violations?q=%3Cb%3Enothing"');
  });

  test('splits the violation list into pages without duplicates or gaps', async () => {
    const ids = await several(53);
    const visitor = await signedIn(app);
    const first = await visitor.get('/violations');
    const next = /rel="next" href="([^"]+)"/.exec(first.html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = await visitor.get(next);
    expect([...idsIn(first.html), ...idsIn(second.html)]).toEqual(ids);
    expect(second.html).not.toContain('rel="next"');
    expect(second.html).toContain('href="/violations">First page');
  });
});

describe('console: violation list refresh', () => {
  test('keeps rows in place on a refresh of the violation list and counts new violations', async () => {
    const ids = await several(2);
    const visitor = await signedIn(app);
    const response = await visitor.get('/violations');
    await several(3);
    const { html } = await refresh(visitor, response.html);
    expect(html).toMatch(/^<div id="violations"/);
    expect(idsIn(html)).toEqual(ids);
    expect(textOf(html)).toContain('3 new: show');
  });

  test('keeps and marks a row that no longer matches the filter of the violation list', async () => {
    const [id = '', other = ''] = await several(2);
    const visitor = await signedIn(app);
    const response = await visitor.get('/violations?state=pending');
    await api(app).post(`/api/violations/${id}/waive`).send({ reason: 'twice' });
    const { html } = await refresh(visitor, response.html);
    expect(idsIn(html)).toEqual([id, other]);
    expect(textOf(rowOf(html, id))).toMatch(/No longer matches this list.*Waived/);
    expect(textOf(rowOf(html, other))).not.toContain('no longer');
  });

  test('ignores made-up addresses and ids in a refresh of the violation list', async () => {
    const visitor = await signedIn(app);
    const form = new URLSearchParams({ list: '//elsewhere.example', next: 'nowhere', shown: '<script>' });
    const { status, html } = await visitor.post('/violations/live', form);
    expect([status, html.includes('<script>'), html.includes('elsewhere')]).toEqual([200, false, false]);
    expect(textOf(html)).toContain('Archived');
  });
});
