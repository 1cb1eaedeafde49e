import { createAuditStore } from '../../src/store/ops/audit';
import { KEYS } from '../../src/store/keys';
import { chainOf, auditEntryOf } from '../support/audit';
import { useStores } from '../support/stores';

const stores = useStores();

const audit = () => createAuditStore(stores.redis);
const ALL = { cursor: null, limit: 200, towingReferenceId: null } as const;

/** Puts a chain in place as if it had been written act by act. */
async function keep(lines: readonly string[]): Promise<void> {
  for (let at = 0; at < lines.length; at += 1000) await stores.redis.rpush(KEYS.audit, ...lines.slice(at, at + 1000));
}

function entriesOn(refs: readonly string[]): string[] {
  const { by, why, ...entry } = auditEntryOf('tow.started');
  return chainOf(
    refs.map(() => JSON.stringify({ by, why })),
    refs.map((ref) => JSON.stringify({ ...entry, on: { towing_reference_id: ref } })),
  );
}

describe('audit list', () => {
  const seqsOf = (items: readonly { seq: number }[]) => items.map(({ seq }) => seq);

  test('the audit list shows the newest entries first, and new entries do not shift later pages', async () => {
    const lines = entriesOn(Array.from({ length: 12 }, () => 'T'));
    await keep(lines.slice(0, 8));
    const first = await audit().list({ ...ALL, limit: 3 });
    expect(seqsOf(first.items)).toEqual([8, 7, 6]);

    await keep(lines.slice(8));
    const second = await audit().list({ ...ALL, limit: 3, cursor: first.nextCursor });
    expect(seqsOf(second.items)).toEqual([5, 4, 3]);

    await stores.redis.ltrim(KEYS.audit, 1, -1);
    const third = await audit().list({ ...ALL, limit: 3, cursor: second.nextCursor });
    expect([seqsOf(third.items), third.nextCursor]).toEqual([[2], null]);
  });

  test('the audit list ends with its last page even when that page is full', async () => {
    await keep(entriesOn(['T', 'T', 'T', 'T']));
    const first = await audit().list({ ...ALL, limit: 2 });
    const second = await audit().list({ ...ALL, limit: 2, cursor: first.nextCursor });
    expect([seqsOf(second.items), second.nextCursor]).toEqual([[2, 1], null]);
  });

  test('the audit list of one tow finds all its entries among many others with a bounded number of reads', async () => {
    const refs = Array.from({ length: 12_000 }, (_, index) => (index % 6000 === 5 ? 'mine' : 'other'));
    await keep(entriesOn(refs));
    const found: number[] = [];
    let pages = 0;
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<ReturnType<typeof audit>['list']>> = await audit().list({
        cursor,
        limit: 1,
        towingReferenceId: 'mine',
      });
      found.push(...seqsOf(page.items));
      cursor = page.nextCursor;
      pages += 1;
    } while (cursor !== null);
    expect(found).toEqual([6006, 6]);
    expect(pages).toBeGreaterThan(2);
    expect(pages).toBeLessThan(6);
  });

  test.each([-5, 0, 1, 3])('the audit list accepts a cursor that ended no page: %d', async (score) => {
    await keep(entriesOn(['T', 'T']));
    const cursor = Buffer.from(`${score} x`).toString('base64url');
    const { items } = await audit().list({ ...ALL, cursor });
    expect(seqsOf(items)).toEqual(score > 2 ? [2, 1] : []);
  });

  test('the whole audit is read while entries are added', async () => {
    const lines = entriesOn(Array.from({ length: 5000 }, () => 'T'));
    await keep(lines.slice(0, 4500));
    const [read] = await Promise.all([audit().lines(), keep(lines.slice(4500))]);
    expect(read.length).toBeGreaterThanOrEqual(4500);
    expect(read).toEqual(lines.slice(0, read.length));
  });

  test('the whole audit is read while old lines are archived', async () => {
    const lines = entriesOn(Array.from({ length: 9000 }, () => 'T'));
    await keep(lines);
    const [read] = await Promise.all([audit().lines(), stores.redis.ltrim(KEYS.audit, 100, -1)]);
    expect([lines, lines.slice(100)]).toContainEqual(read);
  });
});
