import { z } from 'zod';
import { ROUTES } from '../../src/contracts/operator-routes';
import { writeCursor } from '../../src/contracts/paging';
import type { Route } from '../../src/contracts/routes/route';
import { useApp } from '../support/app';
import { api, errorOf, towsPage } from './client';
import { newTow } from './world';

const app = useApp({ role: 'console' });

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
