import * as board from '../../src/console/pages/board/model';
import { queryIn } from '../../src/console/requests';
import { page, writeCursor } from '../../src/contracts/paging';
import { taskView } from '../../src/contracts/operator';
import { lateRequestTask } from '../../src/domain/tasks';
import { violationView } from '../../src/contracts/violations';
import { api } from '../operator/client';
import { newTow, newViolation } from '../operator/world';
import { useApp } from '../support/app';
import { rowsIn } from './board';
import { openOn } from './task-world';
import { signedIn } from './visitor';

const app = useApp({ role: 'console' });

const CURSOR = writeCursor({ score: 1_773_144_000_000, member: 'TW-1' });
const WITH_CURSOR = { withCursor: true };

/** The address of a page of a list, and the cursor of the store that an address leads to. */
const LISTS = {
  '/board': {
    pageOf: (filter: string) => board.addressOf({ ...board.readQuery(queryIn(filter)), cursor: CURSOR }, WITH_CURSOR),
    cursorOf: (address: string) => board.readQuery(queryIn(address)).cursor,
  },
};

/** An address with other filters, or in another list, and the cursor of `address`. */
const moved = (address: string, to: string) => `${to}${to.includes('?') ? '&' : '?'}cursor=${cursorIn(address)}`;
const cursorIn = (address: string) => queryIn(address).get('cursor') ?? '';

test.each([
  ['/board', '?state=requested&q=TW', ['?q=TW', '?state=started&q=TW', '?state=requested&q=TW&crew=North']],
  ['/board', '', ['?order=oldest', '?attention=true']],
] as const)('%s%s: takes the cursor of its own pages, and ignores it with other filters', (path, filter, others) => {
  const { pageOf, cursorOf } = LISTS[path];
  const address = pageOf(filter);
  expect(address.startsWith(path)).toBe(true);
  expect(cursorOf(address)).toBe(CURSOR);
  for (const other of others) expect([other, cursorOf(moved(address, `${path}${other}`))]).toEqual([other, null]);
});

test('the board shows its first page to a cursor of other filters', async () => {
  const ref = await newTow(app);
  const visitor = await signedIn(app);
  const cursor = writeCursor({ score: 0, member: 'TW-0' });
  const behind = board.addressOf({ ...board.readQuery(queryIn('?state=requested')), cursor }, WITH_CURSOR);
  expect(rowsIn((await visitor.get(behind)).html)).toEqual([]);
  expect(rowsIn((await visitor.get(moved(behind, '/board?state=all'))).html)).toEqual([ref]);
});

test.each(['', 'state=pending'])(
  'the violations take the cursor of the API with their filters alone: %s',
  async (filter) => {
    const [first, second] = [await newViolation(app), await newViolation(app)];
    const visitor = await signedIn(app);
    const answer = await api(app).get(`/api/violations?limit=1&${filter}`);
    const cursor = page(violationView).parse(answer.body).next_cursor ?? '';
    const idsAt = async (others: string) => {
      const { html } = await visitor.get(`/violations?${others}&cursor=${cursor}`);
      return [...html.matchAll(/<tr[^>]* id="violation-([^"]+)"/g)].map(([, id]) => id);
    };
    expect(await idsAt(filter)).toEqual([first]);
    expect(await idsAt(`${filter}&q=AB`)).toHaveLength(2);
    expect(await idsAt(filter === '' ? 'state=pending' : '')).toEqual([second, first]);
  },
);

test('the tasks take the cursor of the API with their filters alone', async () => {
  const refs = [await newTow(app), await newTow(app)];
  for (const ref of refs) await openOn(app, ref, lateRequestTask('D-1', 'V-1'));
  const visitor = await signedIn(app);
  const answer = await api(app).get('/api/tasks?limit=1&order=oldest');
  const cursor = page(taskView).parse(answer.body).next_cursor ?? '';
  const refsAt = async (others: string) => {
    const { html } = await visitor.get(`/tasks?${others}&cursor=${cursor}`);
    return refs.filter((ref) => html.includes(`href="/tows/${ref}"`));
  };
  expect(await refsAt('')).toEqual(refs.slice(1));
  expect(await refsAt('order=newest')).toEqual(refs);
  expect(await refsAt('type=late_request')).toEqual(refs);
});
