import { page } from '../../src/contracts/paging';
import { taskView } from '../../src/contracts/operator';
import { lateRequestTask } from '../../src/domain/ops/tasks';
import { violationView } from '../../src/contracts/violation/violations';
import { api, towsPage } from '../operator/client';
import { newTow, newViolation } from '../operator/world';
import { useApp } from '../support/app';
import { rowsIn } from './board';
import { openOn } from './task-world';
import { signedIn } from './visitor';

const app = useApp({ role: 'console' });

test('the board takes the cursor of the API with its filters alone', async () => {
  const [first, second] = [await newTow(app), await newTow(app)];
  const visitor = await signedIn(app);
  const { next_cursor: cursor } = await towsPage(app, { limit: '1', state: 'requested,started,detained' });
  const refsAt = async (others: string) => rowsIn((await visitor.get(`/board?${others}&cursor=${cursor}`)).html);
  expect(await refsAt('')).toEqual([first]);
  expect(await refsAt('state=all')).toEqual([second, first]);
  expect(await refsAt('order=oldest')).toEqual([first, second]);
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
