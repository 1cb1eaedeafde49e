import { createApiKeyStore } from '../../src/store/person/api-keys';
import { createAuditStore } from '../../src/store/ops/audit';
import { KEYS } from '../../src/store/keys';
import { recordFact } from '../../src/workflow/tow/record-fact';
import { verifyAudit } from '../../src/workflow/ops/verify-audit';
import { auditEntryOf } from '../support/audit';
import { useOwnRedis } from '../support/redis';
import { openStores, START, type Stores } from '../support/stores';

const redis = useOwnRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

const actor = { id: 'k1', name: 'day shift', role: 'dispatcher' } as const;
const audit = () => createAuditStore(stores.redis);
const ALL = { cursor: null, limit: 200, towingReferenceId: null } as const;
const actions = async () => (await audit().list(ALL)).items.map(({ action }) => action).toReversed();
const tools = () => stores.progress;

async function* nothing() {}

/** What following the chain finds while nothing is archived. */
async function verified() {
  return verifyAudit({ archived: nothing(), kept: await audit().lines(), noted: null });
}

test('the chain of the audit goes on, and its entries are listed, after a name and a reason were removed', async () => {
  await stores.request('T-1');
  const waived = { ref: 'T-1', command: { event: 'canceled', cancellationReason: 'at the gate' }, actor } as const;
  await recordFact(tools(), { ref: 'T-1', command: START, actor });
  await recordFact(tools(), waived);
  const stored = (await stores.redis.lindex(KEYS.audit, -1)) ?? '';
  const [hashed = ''] = stored.split('\n');
  expect(stored).toContain(actor.name);
  expect(stored).toContain('at the gate');
  expect(hashed).not.toContain(actor.name);
  expect(hashed).not.toContain('at the gate');

  await stores.redis.lset(KEYS.audit, -1, hashed);

  expect(await verified()).toMatchObject({ broken: null, extent: { lastSeq: 2 } });
  const { items } = await audit().list(ALL);
  expect(items.map(({ by, why }) => [by, why])).toEqual([
    [actor.id, null],
    [actor.name, null],
  ]);
});

describe('audit chain', () => {
  test('the audit chain is unbroken after concurrent acts of every kind', async () => {
    const refs = Array.from({ length: 20 }, (_, index) => `T${index}`);
    for (const ref of refs) await stores.request(ref);
    const keys = createApiKeyStore(stores.redis);
    const act = { audit: auditEntryOf('key.created'), idempotency: undefined, answer: {} };

    await Promise.all(
      refs.flatMap((ref, index) => [
        recordFact(tools(), { ref, command: START, actor }),
        stores.replay(`request-${ref}`),
        keys.create(
          { id: `k${index}`, name: `yard ${index}`, role: 'crew', createdAt: '2026-03-10T12:00:00.000Z' },
          ref,
          act,
        ),
      ]),
    );

    const { broken, extent } = await verified();
    expect(broken).toBeNull();
    expect(extent).toMatchObject({ firstSeq: 1, lastSeq: 60 });
    expect((await actions()).filter((action) => action === 'tow.started')).toHaveLength(20);
  });

  test('the audit chain continues after a restart of Redis and of the process', async () => {
    await stores.request('T1');
    await stores.say('T1', START);
    await redis.restart();
    stores.close();
    stores = await openStores(redis.url);
    await stores.say('T1', { event: 'detained' });

    expect(await verified()).toMatchObject({ broken: null, extent: { firstSeq: 1, lastSeq: 2 } });
  });

  test('the audit chain continues from the last entry after older entries were archived', async () => {
    await stores.request('T1');
    await stores.say('T1', START);
    const [first = ''] = await audit().lines();
    await stores.say('T1', { event: 'detained' });
    await stores.redis.ltrim(KEYS.audit, -1, -1);
    await stores.say('T1', { event: 'released' });

    const archived = (async function* () {
      yield { type: 'audit' as const, id: '1', archived_at: '2026-03-10T12:00:00.000Z', data: { line: first } };
    })();
    const found = await verifyAudit({ archived, kept: await audit().lines(), noted: null });
    expect(found).toMatchObject({ broken: null, extent: { firstSeq: 1, lastSeq: 3 } });
  });

  test('the audit chain verifies with names and reasons of any characters', async () => {
    await stores.request('T1');
    const reason = 'line\nfeed, "quotes", \u2028, لوحة, 🚗 and half of one: \ud83d';
    const canceled = { event: 'canceled', cancellationReason: reason } as const;
    await recordFact(tools(), { ref: 'T1', command: canceled, actor: { id: 'k2', name: 'a\nb 9 9 x', role: 'ops' } });

    expect(await verified()).toMatchObject({ broken: null, extent: { lastSeq: 1 } });
    expect((await audit().list(ALL)).items).toMatchObject([{ by: 'a\nb 9 9 x', why: reason.toWellFormed() }]);
  });
});

describe('audit entries', () => {
  test('a fact recorded ten times at once has one audit entry', async () => {
    await stores.request('T1');
    await Promise.all(Array.from({ length: 10 }, () => recordFact(tools(), { ref: 'T1', command: START, actor })));
    expect(await actions()).toEqual(['tow.started']);
  });

  test('revoking an API key twice at once adds one audit entry', async () => {
    const keys = createApiKeyStore(stores.redis);
    const key = { id: 'k1', name: 'yard', role: 'crew', createdAt: '2026-03-10T12:00:00.000Z' } as const;
    await keys.create(key, 'hash', { audit: auditEntryOf('key.created'), idempotency: undefined, answer: {} });

    const revoked = await Promise.all([1, 2].map(() => keys.revoke('k1', auditEntryOf('key.revoked'))));

    expect(revoked).toMatchObject([{ kind: 'done' }, { refusal: { code: 'key_not_found' } }]);
    expect([await keys.findByHash('hash'), await keys.list()]).toEqual([null, []]);
    expect(await actions()).toEqual(['key.created', 'key.revoked']);
  });

  test('webhooks and attempts of workers add no audit entry', async () => {
    await stores.request('T1');
    await stores.acceptInvoice('T1');
    await stores.process('invoice-T1');
    await stores.outbox.claim('T1');
    expect(await actions()).toEqual([]);
  });
});

describe('changes to the audit in Redis', () => {
  const forge = (line: string) => line.replace('"tester"', '"forged"');
  const changes: Record<string, (lines: readonly string[]) => Promise<unknown>> = {
    'an entry changed': (lines) => stores.redis.lset(KEYS.audit, 2, forge(lines[2] ?? '')),
    'an entry removed': (lines) => stores.redis.lrem(KEYS.audit, 1, lines[2] ?? ''),
    'an entry inserted': (lines) => stores.redis.linsert(KEYS.audit, 'BEFORE', lines[2] ?? '', forge(lines[2] ?? '')),
    'two entries exchanged': async (lines) => {
      await stores.redis.lset(KEYS.audit, 2, lines[3] ?? '');
      await stores.redis.lset(KEYS.audit, 3, lines[2] ?? '');
    },
  };

  test.each(Object.keys(changes))('verifying the audit finds %s and names the first broken entry', async (what) => {
    await stores.request('T1');
    for (let acts = 0; acts < 5; acts += 1) await stores.replay('request-T1');
    expect((await verified()).broken).toBeNull();

    await changes[what]?.(await audit().lines());

    expect((await verified()).broken?.seq).toBe(3);
  });

  test('an unreadable last entry of the audit is reported and does not prevent further acts', async () => {
    await stores.request('T1');
    await stores.say('T1', START);
    await stores.redis.lset(KEYS.audit, -1, 'nonsense');

    await stores.say('T1', { event: 'detained' });

    expect((await stores.read('T1')).tow.state).toBe('detained');
    expect((await verified()).broken?.seq).toBe(1);
  });
});
