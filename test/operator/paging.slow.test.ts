import { processDeliveries } from '../../jobs/process-delivery';
import { deliveryKey } from '../../src/store/keys';
import { deliveryTools } from '../support/stores';
import { useApp } from '../support/app';
import { api, deliveriesPage, refsFound, towsPage } from './client';
import { acceptOnly, deliver, newTow, record } from './world';

const app = useApp({ role: 'console' });

const COUNT = 120;

function refOf(at: number): string {
  return `TW-20261120-${String(at).padStart(6, '0')}`;
}

/** Creates 120 tows; the first has the lowest number. */
async function manyTows(): Promise<string[]> {
  const refs = Array.from({ length: COUNT }, (_, at) => refOf(500 + at));
  for (const towing_reference_id of refs) await newTow(app, { towing_reference_id });
  return refs;
}

/** Reads all pages and runs `meanwhile` after each. */
async function readWhile(
  query: Readonly<Record<string, string>>,
  meanwhile: (pageCount: number, shown: readonly string[]) => Promise<unknown>,
) {
  const pages: string[][] = [];
  let cursor: string | null = null;
  do {
    const found = await towsPage(app, { ...query, ...(cursor === null ? {} : { cursor }) });
    pages.push(found.items.map(({ towing_reference_id }) => towing_reference_id));
    cursor = found.next_cursor;
    await meanwhile(pages.length, pages.at(-1) ?? []);
  } while (cursor !== null);
  return pages;
}

/** The expected references that no page listed, and those that were listed more than once. */
function faultsOf(shown: readonly string[], expected: readonly string[]) {
  return {
    missing: expected.filter((ref) => !shown.includes(ref)),
    repeated: shown.filter((ref, at) => shown.indexOf(ref) !== at),
  };
}

it.each([1, 7, 50, 119, 120, 121, 200])(
  'lists each of 120 tows exactly once, newest first, in pages of %d',
  async (limit) => {
    const refs = await manyTows();
    const pages = await readWhile({ limit: String(limit) }, async () => {});
    expect(pages.flat()).toEqual(refs.toReversed());
    expect(pages.slice(0, -1).every((shown) => shown.length === limit)).toBe(true);
  },
);

it('lists each of 120 tows exactly once while new tows arrive', async () => {
  const refs = await manyTows();
  const pages = await readWhile({ limit: '9' }, async (pageCount) => {
    await newTow(app, { towing_reference_id: refOf(pageCount) });
    await newTow(app, { towing_reference_id: refOf(900 + pageCount) });
  });
  expect(pages.flat().filter((ref) => refs.includes(ref))).toEqual(refs.toReversed());
});

it('lists each of 120 tows that match a search exactly once while new matching tows arrive', async () => {
  const refs = await manyTows();
  const pages = await readWhile({ limit: '9', q: 'tw-2026' }, async (pageCount) => {
    await newTow(app, { towing_reference_id: refOf(pageCount) });
    await newTow(app, { towing_reference_id: refOf(900 + pageCount) });
  });
  expect(faultsOf(pages.flat(), refs)).toEqual({ missing: [], repeated: [] });
});

it('lists each tow of a state exactly once while other tows leave that state', async () => {
  const refs = await manyTows();
  const pages = await readWhile({ limit: '9', state: 'requested' }, async (_pageCount, shown) => {
    // The cursor names the last listed tow, which has left the state when the next page is read.
    await record(app, shown.at(-1) ?? '', 'started');
  });
  expect(faultsOf(pages.flat(), refs)).toEqual({ missing: [], repeated: [] });
});

it('lists each tow of the same millisecond exactly once, with any characters in its reference', async () => {
  const tools = deliveryTools(app.foundation.redis);
  const refs = ['a', 'B', 'é', 'ب', '～', '🚗', '１', '\u{10ffff}', ...Array.from({ length: 20 }, (_, at) => `z${at}`)];
  for (const ref of refs) {
    const id = await acceptOnly(app, 'tow_request', { violation_reference_id: 'V-1', towing_reference_id: ref });
    await app.redis.ask('HSET', deliveryKey(id), 'receivedAtMs', '1700000000000');
    await processDeliveries({ delivery_ids: [id] }, tools);
  }
  for (const limit of ['1', '2', '3', '5']) {
    expect(faultsOf(await refsFound(app, { limit }), refs)).toEqual({ missing: [], repeated: [] });
  }
});

it.each(['x', '', '!!!!', btoa('1 '), btoa('NaN x'), btoa('x'.repeat(200))])(
  'answers an invented page cursor with 200 or 422 and changes nothing: "%s"',
  async (cursor) => {
    const refs = [await newTow(app), await newTow(app)];
    const { status } = await api(app).get('/api/tows').query({ cursor });
    expect([200, 422]).toContain(status);
    expect(await refsFound(app)).toEqual(refs.toReversed());
  },
);

it('lists each delivery exactly once, newest first, while new deliveries arrive', async () => {
  const ids: string[] = [];
  for (let at = 0; at < 25; at += 1) {
    const body = { violation_reference_id: 'V-1', towing_reference_id: refOf(at) };
    ids.push((await deliver(app, 'tow_request', body)).id);
  }
  const shown: string[] = [];
  let cursor: string | null = null;
  do {
    const found = await deliveriesPage(app, { limit: '4', ...(cursor === null ? {} : { cursor }) });
    shown.push(...found.items.map(({ id }) => id));
    cursor = found.next_cursor;
    await deliver(app, 'tow_request', {
      violation_reference_id: 'V-1',
      towing_reference_id: refOf(100 + shown.length),
    });
  } while (cursor !== null);
  expect(shown.filter((id) => ids.includes(id))).toEqual(ids.toReversed());
});
