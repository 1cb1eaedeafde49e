import type { KeptRefusal } from '../../src/contracts/webhook/webhooks';
import { createRefusedCallStore } from '../../src/store/webhook/webhook-answers';
import { useStores } from '../support/stores';

const stores = useStores();

/** A refused call, received so many ms ago. */
function refusal(changes: Partial<KeptRefusal> & { readonly agoMs?: number }): KeptRefusal {
  const { agoMs = 0, ...fields } = changes;
  return {
    received_at: new Date(Date.now() - agoMs).toISOString(),
    path: '/tow-request',
    source: '203.0.113.1',
    reason: 'signature_wrong',
    http_status: 401,
    details: [],
    header_names: ['content-type'],
    size: 2,
    body_hash: null,
    body_kind: 'json',
    fields: [],
    ...fields,
  };
}

test('a flood of strangers pushes out neither calls of other sources nor those refused for other reasons', async () => {
  const store = createRefusedCallStore(stores.redis);
  await store.keep([refusal({ path: '/genuine' })]);
  const flood = Array.from({ length: 60 }, (_, at) => `198.51.100.${at}`).map((source) =>
    refusal({ source, reason: 'signature_missing' }),
  );
  await store.keep(flood);
  await store.keep(Array.from({ length: 60 }, () => refusal({ source: '198.51.100.7' })));

  const kept = await store.list(200);
  expect(kept.filter(({ path }) => path === '/genuine')).toHaveLength(1);
  const bySource = (source: string) => kept.filter((call) => call.source === source);
  expect(kept.filter(({ reason }) => reason === 'signature_missing')).toHaveLength(12);
  expect(bySource('198.51.100.7').length).toBeLessThanOrEqual(6);
});

test('lists refused calls of the last day, newest first', async () => {
  const store = createRefusedCallStore(stores.redis);
  const day = 24 * 3_600_000;
  await store.keep([
    refusal({ path: '/old', agoMs: day + 60_000 }),
    refusal({ path: '/first', agoMs: 2000, source: '203.0.113.9' }),
    refusal({ path: '/second', agoMs: 1000 }),
  ]);
  expect((await store.list(200)).map(({ path }) => path)).toEqual(['/second', '/first']);
  expect((await store.list(1)).map(({ path }) => path)).toEqual(['/second']);
});
