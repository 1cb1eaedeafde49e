import { ROUTES } from '../../src/contracts/operator-routes';
import { api, newKey, towOf, towPath } from '../operator/client';
import { answerHead, newTow, record, towAfter } from '../operator/world';
import { useApp } from '../support/app';
import { recordedLog } from '../support/recorded-log';
import { askedBy, chipsIn, leftIn, linkIn, questionIn, refreshed, rowIn, rowsIn, statusIn } from './board';
import { signedIn, textOf } from './visitor';

const { log, lines } = recordedLog();
const app = useApp({ role: 'console', log });

describe('console: board refresh', () => {
  test('keeps rows in place on a board refresh and updates their state', async () => {
    const [a, b, c] = [await newTow(app), await newTow(app), await newTow(app)];
    const visitor = await signedIn(app);
    const before = (await visitor.get('/board?order=oldest')).html;
    await record(app, b, 'started');
    await answerHead(app, b, 'accepted');
    await record(app, a, 'canceled');

    const after = await refreshed(visitor, before);
    expect(rowsIn(after)).toEqual([a, b, c]);
    expect(rowIn(after, b)).toMatch(/Started now .*Started: Accepted/);
    expect(leftIn(after)).toEqual([a]);
    expect(rowIn(after, a)).toContain('No longer matches this list');
    expect(chipsIn(after).get('Open')?.count).toBe(2);
    expect(chipsIn(after).get('Canceled')?.count).toBe(1);
  });

  test('counts tows that newly match the board filter and lists them only after a reload', async () => {
    const [waits, starts] = [await newTow(app), await newTow(app)];
    const visitor = await signedIn(app);
    await record(app, starts, 'started');
    const before = (await visitor.get('/board?state=started')).html;
    await towAfter(app, 'started');
    await record(app, waits, 'started');

    const after = await refreshed(visitor, before);
    expect(rowsIn(after)).toEqual([starts]);
    expect(statusIn(after)).toBe('2 new: show');
    const again = (await visitor.get(linkIn(after, 'fresh'))).html;
    expect(rowsIn(again)).toHaveLength(3);
    expect(statusIn(again)).toBe('3 tows shown');
  });

  test('does not count tows as new that only moved up from the next page of the board', async () => {
    const refs: string[] = [];
    for (let made = 0; made < 53; made += 1) refs.unshift(await newTow(app));
    const visitor = await signedIn(app);
    const before = (await visitor.get('/board')).html;
    await record(app, refs[3] ?? '', 'canceled');
    await record(app, refs[49] ?? '', 'canceled');
    const left = await refreshed(visitor, before);
    expect(rowsIn(left)).toEqual(refs.slice(0, 50));
    expect(statusIn(left)).toBe('50 of 51 tows shown');

    await newTow(app);
    expect(statusIn(await refreshed(visitor, left))).toBe('1 new: show');
    for (let made = 0; made < 60; made += 1) await newTow(app);
    expect(statusIn(await refreshed(visitor, left))).toBe('50+ new: show');
  });

  test('refreshes a later page of the board as that same page', async () => {
    const refs: string[] = [];
    for (let made = 0; made < 52; made += 1) refs.unshift(await newTow(app));
    const visitor = await signedIn(app);
    const first = (await visitor.get('/board')).html;
    const second = (await visitor.get(linkIn(first, 'rel="next"'))).html;
    await newTow(app);
    const after = await refreshed(visitor, second);
    expect(rowsIn(after)).toEqual(refs.slice(50));
    expect(statusIn(after)).toBe('2 of 53 tows shown');
  });

  test('adds a new tow to an empty board on refresh', async () => {
    const visitor = await signedIn(app);
    const before = (await visitor.get('/board')).html;
    const ref = await newTow(app);
    expect(rowsIn(await refreshed(visitor, before))).toEqual([ref]);
  });

  test('keeps the row of an archived tow in place on a board refresh and marks it as archived', async () => {
    const [first, second] = [await newTow(app), await newTow(app)];
    const visitor = await signedIn(app);
    const before = (await visitor.get('/board')).html;
    const { redis } = app.foundation;
    await redis.del(`{towhook-main}:tow:${first}`);
    await redis.zrem('{towhook-main}:index:tows', first);
    await redis.zrem('{towhook-main}:index:tows:requested', first);
    const after = await refreshed(visitor, before);
    expect(rowsIn(after)).toEqual([second, first]);
    expect(rowIn(after, first)).toContain('Archived');
  });

  test('keeps the search text of a board refresh out of the log', async () => {
    const ref = await towAfter(app, 'started');
    const visitor = await signedIn(app);
    const before = (await visitor.get('/board?q=ABJ1234')).html;
    expect(rowsIn(await refreshed(visitor, before))).toEqual([ref]);
    expect(JSON.stringify(lines)).not.toMatch(/ABJ1234/i);
  });

  test('refuses a board refresh without the form token of the session with 403', async () => {
    const visitor = await signedIn(app);
    const asked = askedBy((await visitor.get('/board')).html).filter(([name]) => name !== 'form_token');
    const response = await visitor.postRaw('/board/live', new URLSearchParams(asked).toString());
    expect(response.status).toBe(403);
  });
});

describe('console: crew assignment from the board', () => {
  test('assigns a crew from a row of the board and redirects to that row of the same board', async () => {
    const ref = await newTow(app);
    const visitor = await signedIn(app, await newKey(app, 'dispatcher'));
    await visitor.get('/board');
    const response = await visitor.post('/board/assign', {
      ref,
      back: '/board?state=requested&order=oldest',
      crew: ' فريق الشمال ',
      truck: 'T-7',
    });
    expect(response.status).toBe(303);
    expect(response.location).toBe(`/board?state=requested&order=oldest#tow-${ref}`);
    expect((await towOf(app, ref)).dispatch.assignment).toMatchObject({ crew: 'فريق الشمال', truck: 'T-7' });
    const next = (await visitor.get('/board')).html;
    expect(textOf(next)).toContain('The crew is assigned.');
    expect(next).toContain('<option value="فريق الشمال"');
  });

  test('removes the crew of a tow from the board without a crew name', async () => {
    const ref = await newTow(app);
    await api(app).post(towPath(ref, '/assignment')).send({ crew: 'North' });
    const visitor = await signedIn(app);
    await visitor.get('/board');
    await visitor.post('/board/assign', { ref, back: '/board', crew: '', unassigned: 'true' });
    expect((await towOf(app, ref)).dispatch.assignment).toBeNull();
  });

  test('refuses a crew assignment from a board that shows an earlier one, and keeps the input', async () => {
    const ref = await newTow(app);
    const visitor = await signedIn(app, await newKey(app, 'dispatcher'));
    const question = questionIn((await visitor.get('/board')).html, ref);
    await api(app).post(towPath(ref, '/assignment')).send({ crew: 'North' });
    const fields = { ref, back: '/board', crew: 'South', truck: 'T-9' };
    const refused = await visitor.post('/board/assign', { ...fields, question });
    expect(refused.status).toBe(409);
    expect(rowIn(refused.html, ref)).toContain('This has changed since the page was shown.');
    expect(refused.html).toContain('value="South"');
    expect((await towOf(app, ref)).dispatch.assignment?.crew).toBe('North');

    const again = await visitor.post('/board/assign', { ...fields, question: questionIn(refused.html, ref) });
    expect(again.status).toBe(303);
    expect((await towOf(app, ref)).dispatch.assignment).toMatchObject({ crew: 'South', truck: 'T-9' });
  });

  test('redirects like the first time when the form of a crew assignment is sent twice', async () => {
    const ref = await newTow(app);
    const visitor = await signedIn(app);
    const { html } = await visitor.get('/board');
    const [, form_token = ''] = /name="form_token" value="([^"]*)"/.exec(html) ?? [];
    const fields = { form_token, form_key: 'one-form', question: questionIn(html, ref), ref, crew: 'North' };
    for (let round = 0; round < 2; round += 1) {
      const response = await visitor.postRaw('/board/assign', new URLSearchParams(fields).toString());
      expect(response.location).toBe(`/board#tow-${ref}`);
    }
  });

  test('shows the reason and the entered values on the row when a crew assignment is refused', async () => {
    const [ref] = [await newTow(app), await newTow(app)];
    const visitor = await signedIn(app);
    const question = questionIn((await visitor.get('/board')).html, ref);
    const entered = { crew: 'x'.repeat(101), truck: 'T-9' };
    const response = await visitor.post('/board/assign', { ref, back: '/board', question, ...entered });
    expect(response.status).toBe(422);
    expect(rowIn(response.html, ref)).toContain('must be at most 100 characters');
    expect(response.html.match(/<details class="menu assign" open/g)).toHaveLength(1);
    expect(response.html).toContain('value="T-9"');
  });

  test('answers 404 to a crew assignment of an unknown tow', async () => {
    const visitor = await signedIn(app);
    const response = await visitor.post('/board/assign', { ref: 'TW-none', back: '/board', crew: 'North' });
    expect(response.status).toBe(404);
    expect(textOf(response.html)).toContain('Not done');
  });

  test('redirects only to the board after a crew assignment', async () => {
    const ref = await newTow(app);
    const visitor = await signedIn(app);
    for (const back of ['https://elsewhere.example/', '//elsewhere.example', '/tasks?state=started', 'javascript:1']) {
      await visitor.get('/board');
      const response = await visitor.post('/board/assign', { ref, back, crew: `crew of ${back}` });
      expect(response.location).toBe(`/board#tow-${ref}`);
    }
  });

  test.each(['viewer', 'crew'] as const)(
    'hides the crew assignment on the board from a %s and refuses it with 403',
    async (role) => {
      const ref = await newTow(app);
      const visitor = await signedIn(app, await newKey(app, role));
      const { html } = await visitor.get('/board');
      expect(rowsIn(html)).toEqual([ref]);
      expect(html).not.toContain('/board/assign');
      expect((await visitor.post('/board/assign', { ref, back: '/board', crew: 'North' })).status).toBe(403);
      expect(ROUTES.readTow.answer.parse((await api(app).get(towPath(ref))).body).dispatch.assignment).toBeNull();
    },
  );
});
