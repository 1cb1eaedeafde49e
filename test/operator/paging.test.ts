import { createDeliveryStore } from '../../src/store/deliveries';
import { deliveryKey } from '../../src/store/keys';
import { createTowStore } from '../../src/store/tows';
import { createViolationStore } from '../../src/store/violations';
import { processDelivery } from '../../src/workflow/intake';
import { useApp } from '../support/app';
import { deliveriesPage, get, refsFound, towsPage } from './client';
import { acceptOnly, deliver, newTow, record } from './world';

const app = useApp({ role: 'console' });

const COUNT = 120;

function refOf(at: number): string {
  return `TW-20261120-${String(at).padStart(6, '0')}`;
}

/** 120 tows, the first with the lowest number. */
async function manyTows(): Promise<string[]> {
  const refs = Array.from({ length: COUNT }, (_, at) => refOf(500 + at));
  for (const towing_reference_id of refs) await newTow(app, { towing_reference_id });
  return refs;
}

/** Reads page after page while something happens before each next one. */
async function readWhile(
  query: Readonly<Record<string, string>>,
  meanwhile: (turn: number, shown: readonly string[]) => Promise<unknown>,
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

/** What was expected and not shown, and what was shown more than once. */
function faultsOf(shown: readonly string[], expected: readonly string[]) {
  return {
    missing: expected.filter((ref) => !shown.includes(ref)),
    repeated: shown.filter((ref, at) => shown.indexOf(ref) !== at),
  };
}

it.each([1, 7, 50, 119, 120, 121, 200])(
  '120 tows in pages of %d are each shown exactly once, newest first',
  async (limit) => {
    const refs = await manyTows();
    const pages = await readWhile({ limit: String(limit) }, async () => {});
    expect(pages.flat()).toEqual(refs.toReversed());
    expect(pages.slice(0, -1).every((shown) => shown.length === limit)).toBe(true);
  },
);

it('120 tows are each shown exactly once while new tows arrive', async () => {
  const refs = await manyTows();
  const pages = await readWhile({ limit: '9' }, async (turn) => {
    await newTow(app, { towing_reference_id: refOf(turn) });
    await newTow(app, { towing_reference_id: refOf(900 + turn) });
  });
  expect(pages.flat().filter((ref) => refs.includes(ref))).toEqual(refs.toReversed());
});

it('120 tows found by words are each shown exactly once while new tows arrive that are found too', async () => {
  const refs = await manyTows();
  const pages = await readWhile({ limit: '9', q: 'tw-2026' }, async (turn) => {
    await newTow(app, { towing_reference_id: refOf(turn) });
    await newTow(app, { towing_reference_id: refOf(900 + turn) });
  });
  expect(faultsOf(pages.flat(), refs)).toEqual({ missing: [], repeated: [] });
});

it('tows of a state are each shown exactly once while others leave the state', async () => {
  const refs = await manyTows();
  const pages = await readWhile({ limit: '9', state: 'requested' }, async (_turn, shown) => {
    // The cursor names the tow shown last, which is gone when the next page is asked for.
    await record(app, shown.at(-1) ?? '', 'started');
  });
  expect(faultsOf(pages.flat(), refs)).toEqual({ missing: [], repeated: [] });
});

it('tows requested in the same millisecond are each shown exactly once, whatever their references look like', async () => {
  const { redis, wake } = app.foundation;
  const tools = {
    tows: createTowStore(redis),
    deliveries: createDeliveryStore(redis),
    violations: createViolationStore(redis),
    wake,
  };
  const refs = ['a', 'B', 'é', 'ب', '～', '🚗', '１', '\u{10ffff}', ...Array.from({ length: 20 }, (_, at) => `z${at}`)];
  for (const ref of refs) {
    const id = await acceptOnly(app, 'tow_request', { violation_reference_id: 'V-1', towing_reference_id: ref });
    await app.redis.ask('HSET', deliveryKey(id), 'received_at', '1700000000000');
    await processDelivery(tools, id);
  }
  for (const limit of ['1', '2', '3', '5']) {
    expect(faultsOf(await refsFound(app, { limit }), refs)).toEqual({ missing: [], repeated: [] });
  }
});

it.each(['x', '', '!!!!', btoa('1 '), btoa('NaN x'), btoa('x'.repeat(200))])(
  'a cursor that nobody gave out harms nothing: %s',
  async (cursor) => {
    const refs = [await newTow(app), await newTow(app)];
    const answer = await get(app, `/api/tows?${new URLSearchParams({ cursor }).toString()}`);
    expect([200, 422]).toContain(answer.status);
    expect(await refsFound(app)).toEqual(refs.toReversed());
  },
);

it('deliveries are paged too: each exactly once, newest first, while new ones arrive', async () => {
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
