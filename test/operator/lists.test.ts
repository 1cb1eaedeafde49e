import { useApp } from '../support/app';
import { api, fieldsOf, refsFound, towIn, towPath, towsPage, errorOf } from './client';
import { answerHead, deliver, newTow, record, towAfter, WHEREABOUTS } from './world';
import { changeEntry } from '../support/stored-records';
import { z } from 'zod';
import { ROUTES } from '../../src/contracts/operator-routes';
import { writeCursor } from '../../src/contracts/paging';
import type { Route } from '../../src/contracts/routes/route';

const app = useApp({ role: 'console' });

function sorted(refs: readonly string[]): string[] {
  return refs.toSorted((a, b) => a.localeCompare(b));
}

describe('operator API: list of tows', () => {
  it('returns an empty list of tows before the first tow request', async () => {
    expect(await towsPage(app)).toEqual({ items: [], next_cursor: null });
  });

  it('lists complete tows, newest request first', async () => {
    const refs = [await newTow(app), await newTow(app), await newTow(app)];
    const { items, next_cursor } = await towsPage(app);
    expect(items.map(({ towing_reference_id }) => towing_reference_id)).toEqual(refs.toReversed());
    expect(next_cursor).toBeNull();
    const [newest] = items;
    expect(newest).toEqual(towIn(await api(app).get(towPath(refs[2] ?? '')), 200));
  });

  it('keeps the position of a tow in the list when facts are recorded on it', async () => {
    const refs = [await newTow(app), await newTow(app), await newTow(app)];
    await record(app, refs[0] ?? '', 'started');
    expect(await refsFound(app)).toEqual(refs.toReversed());
  });
});

describe('operator API: list of tows by state', () => {
  it('lists exactly the tows that are currently in the given state', async () => {
    const byState = {
      requested: await towAfter(app),
      started: await towAfter(app, 'started'),
      detained: await towAfter(app, 'started', 'detained'),
      released: await towAfter(app, 'started', 'released'),
      canceled: await towAfter(app, 'canceled'),
    };
    for (const [state, ref] of Object.entries(byState)) expect(await refsFound(app, { state })).toEqual([ref]);
    await record(app, byState.requested, 'started');
    expect(await refsFound(app, { state: 'requested' })).toEqual([]);
    expect(sorted(await refsFound(app, { state: 'started' }))).toEqual(sorted([byState.requested, byState.started]));
  });
});

describe('operator API: search in the list of tows', () => {
  const found = async (q: string, more: Readonly<Record<string, string>> = {}) => refsFound(app, { q, ...more });

  it('finds a tow by a prefix of either reference or of its metadata id, in any letter case', async () => {
    const ref = await newTow(app, {
      towing_reference_id: 'TW-20261120-QRS123',
      violation_reference_id: 'V-20261119-XYZ789',
      metadata: { id: 'Patrol 17/B' },
    });
    await newTow(app, {
      towing_reference_id: 'TW-20251120-QRS123',
      violation_reference_id: 'V-20251119-XYZ789',
      metadata: { id: 'night 18' },
    });
    for (const words of ['TW-20261120-QRS123', 'tw-2026', 'V-20261119-XYZ', 'v-2026', 'Patrol 17/B', ' PATROL']) {
      expect(await found(words)).toEqual([ref]);
    }
    for (const words of ['QRS123', 'TW-20261120-QRS1234', 'trol 17']) expect(await found(words)).toEqual([]);
    expect(await found('tw-')).toHaveLength(2);
  });

  it.each([
    ['ABJ 1234', ['ABJ 1234', 'abj1234', 'ا ب ح ١٢٣٤', 'أبح1234', 'ابح ۱۲۳۴', 'A-B-J', 'ا ب', 'abj12']],
    ['أ ب ح ١٢٣٤', ['ABJ 1234', 'abj1234', 'ا ب ح ١٢٣٤', 'ابح1234', 'A B', 'اب']],
    ['ط ي م ۷', ['TVZ7', 'ط ى م ٧', 'tv', 'طي']],
  ])('finds the plate %s in Arabic and Latin script by each of %j', async (plate_number, searches) => {
    const ref = await newTow(app);
    towIn(
      await api(app)
        .post(towPath(ref, '/started'))
        .send({ ...WHEREABOUTS, plate_number }),
    );
    const other = await newTow(app);
    towIn(
      await api(app)
        .post(towPath(other, '/started'))
        .send({ ...WHEREABOUTS, plate_number: 'KKK 9' }),
    );
    for (const words of searches) expect([words, await found(words)]).toEqual([words, [ref]]);
  });

  it('finds a tow by a prefix of an invoice number', async () => {
    const ref = await towAfter(app, 'started');
    const tow = towIn(await api(app).get(towPath(ref)), 200);
    await deliver(app, 'tow_invoice', {
      violation_reference_id: tow.violation_reference_id,
      towing_reference_id: ref,
      towing_invoice: { invoice_number: 'INV-2026-77' },
      delay_invoice: { invoice_number: 'DLY-2026-78' },
    });
    await newTow(app);
    for (const words of ['inv-2026-77', 'INV-2026', 'dly-']) expect(await found(words)).toEqual([ref]);
  });

  it('finds no tow by search terms that are special characters of a database', async () => {
    await newTow(app);
    for (const words of ['*', '[', '(', '\u0000', '\u{10ffff}', '+inf', 'plate:'])
      expect(await found(words)).toEqual([]);
  });

  it('lists all tows when the search term is blank', async () => {
    const refs = [await newTow(app), await newTow(app)];
    expect(await found('  ')).toEqual(refs.toReversed());
  });

  it('restricts a search for tows to a state', async () => {
    const waiting = await newTow(app, { towing_reference_id: 'TW-A1' });
    const started = await newTow(app, { towing_reference_id: 'TW-A2' });
    await record(app, started, 'started');
    expect(await found('tw-a', { state: 'started' })).toEqual([started]);
    expect(await found('tw-a', { state: 'requested' })).toEqual([waiting]);
  });
});

describe('operator API: list of tows that need attention', () => {
  it('lists exactly the tows with an open task, and drops a tow when its task is closed', async () => {
    await towAfter(app, 'started');
    const refused = await towAfter(app, 'started');
    const reportId = await answerHead(app, refused, 'refused');
    const rival = await newTow(app);
    await deliver(app, 'tow_request', { violation_reference_id: 'V-other', towing_reference_id: rival });
    expect(sorted(await refsFound(app, { attention: 'true' }))).toEqual(sorted([refused, rival]));
    expect(await refsFound(app, { attention: 'true', state: 'started' })).toEqual([refused]);
    expect(await refsFound(app, { attention: 'true', q: rival })).toEqual([rival]);

    towIn(
      await api(app)
        .post(towPath(refused, `/reports/${reportId}/waive`))
        .send({ reason: 'confirmed by phone' }),
    );
    expect(await refsFound(app, { attention: 'true' })).toEqual([rival]);
    await api(app).post(`/api/tasks/rival_request.${rival}/resolve`).send({}).expect(202);
    expect(await refsFound(app, { attention: 'true' })).toEqual([]);
  });

  it('lists all tows with attention=false', async () => {
    const refs = [await newTow(app), await newTow(app)];
    expect(await refsFound(app, { attention: 'false' })).toEqual(refs.toReversed());
  });
});

describe('operator API: list of tows by unsent reports, crew and age', () => {
  const assign = (ref: string, crew: string | null) => api(app).post(towPath(ref, '/assignment')).send({ crew });

  it('lists a tow as unsent until the service has accepted its reports', async () => {
    const [idle, owing] = [await newTow(app), await towAfter(app, 'started')];
    expect(await refsFound(app, { unsent: 'true' })).toEqual([owing]);
    expect(await refsFound(app, { unsent: 'false' })).toEqual([owing, idle]);
    await answerHead(app, owing, 'accepted');
    expect(await refsFound(app, { unsent: 'true' })).toEqual([]);
  });

  it('lists the tows of a crew, and with an empty crew the tows without an assignment', async () => {
    const [free, taken] = [await newTow(app), await newTow(app)];
    await assign(taken, 'Crew 4');
    expect(await refsFound(app, { crew: 'Crew 4' })).toEqual([taken]);
    expect(await refsFound(app, { crew: '' })).toEqual([free]);
    expect(await refsFound(app, { crew: 'Crew' })).toEqual([]);
    await assign(taken, null);
    expect(await refsFound(app, { crew: '' })).toEqual([taken, free]);
  });

  it('lists the tows whose reports are overdue by the configured times', async () => {
    const young = await newTow(app);
    const old = await towAfter(app, 'started');
    await changeEntry(app.foundation.redis, { ref: old }, 1, { createdAtMs: Date.now() - 16 * 60_000, nextAtMs: 1 });
    await answerHead(app, old, 'refused');
    expect(await refsFound(app, { overdue: 'true' })).toEqual([old]);
    expect(await refsFound(app, { overdue: 'true', state: 'requested' })).toEqual([]);
    expect(await refsFound(app, { overdue: 'false' })).toEqual([old, young]);
  });

  it('lists tows oldest or newest request first, page by page', async () => {
    const refs = [await newTow(app), await newTow(app), await newTow(app)];
    expect(await refsFound(app, { order: 'oldest', limit: '1' })).toEqual(refs);
    expect(await refsFound(app, { order: 'newest', limit: '2' })).toEqual(refs.toReversed());
  });

  it.each([
    ['order', 'sideways'],
    ['unsent', 'yes'],
    ['overdue', '1'],
    ['crew', 'x'.repeat(101)],
  ])('refuses the list of tows with 422 for the query %s=%s and names the parameter', async (name, value) => {
    const response = await api(app)
      .get('/api/tows')
      .query({ [name]: value });
    expect([response.status, fieldsOf(response)]).toEqual([422, [name]]);
  });
});

const FOREIGN = { field: 'cursor', rule: 'must be a next_cursor of this list with the same filters' };

/** The cursor of the second page of a list of two tows. */
async function cursorOf(query: Readonly<Record<string, string>> = {}): Promise<string> {
  await newTow(app);
  await newTow(app);
  const { next_cursor: cursor } = await towsPage(app, { limit: '1', ...query });
  return z.string().parse(cursor);
}

async function refusedFor(path: string, query: Readonly<Record<string, string>>) {
  const response = await api(app).get(path).query(query);
  return { status: response.status, details: errorOf(response).details };
}

const LISTS = Object.values<Route>(ROUTES)
  .filter(({ query }) => query instanceof z.ZodObject && 'cursor' in query.shape)
  .map(({ path }) => path);

it('has lists', () => {
  expect(LISTS.length).toBeGreaterThan(5);
});

it.each(LISTS)('refuses a cursor without a list at %s', async (path) => {
  const cursor = writeCursor({ score: 1_773_144_000_000, member: 'TW-1' });
  expect(await refusedFor(path.replace(/:\w+/, 'any'), { cursor })).toEqual({ status: 422, details: [FOREIGN] });
});

it.each(LISTS.filter((path) => path !== '/api/tows'))('refuses a cursor of the list of tows at %s', async (path) => {
  const cursor = await cursorOf();
  expect(await refusedFor(path.replace(/:\w+/, 'any'), { cursor })).toEqual({ status: 422, details: [FOREIGN] });
});

it.each<Readonly<Record<string, string>>>([{ state: 'requested' }, { q: 'TW' }, { crew: '' }, { order: 'oldest' }])(
  'refuses a cursor of the list without filters in the list of tows with %j',
  async (filters) => {
    const cursor = await cursorOf();
    const refused = await refusedFor('/api/tows', { ...filters, cursor });
    expect(refused).toEqual({ status: 422, details: [FOREIGN] });
  },
);

it('names a foreign cursor beside the other failing fields', async () => {
  const cursor = await cursorOf();
  const { details } = await refusedFor('/api/tows', { cursor, state: 'started', limit: '0' });
  expect(details).toContainEqual(FOREIGN);
  expect(details.map(({ field }) => field)).toEqual(['cursor', 'limit']);
});

it('takes a cursor with another page size and the filters in another order', async () => {
  const cursor = await cursorOf({ q: 'TW', state: 'requested' });
  const { items, next_cursor } = await towsPage(app, { limit: '9', state: 'requested', cursor, q: 'TW' });
  expect([items.length, next_cursor]).toEqual([1, null]);
});
