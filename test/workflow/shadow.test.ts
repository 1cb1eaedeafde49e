import { recordIdOf } from '../../src/domain/outbox/outbox-record';
import { silentLog } from '../../src/platform/log/log';
import { editEntryNamed } from '../../src/domain/tow/stored-tow';
import { blockedKey } from '../../src/store/keys';
import { redisTimeMs } from '../../src/store/redis/redis-time';
import { createWithheldStore } from '../../src/store/outbox/withheld';
import type { WithheldCommand } from '../../src/domain/outbox/withheld';
import { ALL_TOWS } from '../../src/workflow/list-port';
import { decideHeldTow } from '../../src/workflow/outbox/decide';
import { switchMode } from '../../src/workflow/outbox/service-mode';
import { withheldCsv, type WithheldStore } from '../../src/workflow/outbox/withheld-list';
import { standings } from '../support/conservation';
import { ACCEPTED, mustClaim, result, RULES, START, TESTER, useStores } from '../support/stores';

const stores = useStores({ leaseMs: 60_000 });

/** Sets the switch of ops, while no process runs. */
const turn = (mode: 'live' | 'shadow') =>
  switchMode(
    {
      mode: 'live',
      records: stores.records,
      processes: { list: () => Promise.resolve([]) },
      areOthersKnown: () => true,
      log: silentLog,
    },
    { mode, reason: 'a test', actor: TESTER, idempotency: undefined },
  );

async function decide(ref: string, command: WithheldCommand) {
  const effect = await decideHeldTow(stores, { ref, command, actor: TESTER });
  return effect.kind === 'refused' ? effect.refusal.code : effect.kind;
}

const claim = (ref: string) => stores.outbox.claim(ref);
const heldIds = async (store: Pick<WithheldStore, 'list'> = createWithheldStore(stores.redis)) =>
  (await store.list({ cursor: null, limit: 10 })).items.map(recordIdOf);

describe('a tow of a shadow time', () => {
  beforeEach(async () => {
    await turn('shadow');
    await stores.request('A');
    await stores.say('A', START);
    await stores.say('A', { event: 'detained' });
  });

  test('is not sent after the switch to live, also with facts that are recorded later', async () => {
    await turn('live');
    await stores.say('A', { event: 'released' });

    expect((await claim('A')).kind).toBe('needs_action');
    expect(await stores.dueAt('A')).toBeNull();
    expect((await stores.read('A')).reports.map(({ waitsFor }) => waitsFor)).toEqual(['shadow', 'shadow', 'shadow']);
    expect((await standings(stores.redis)).reports).toEqual({ with_a_person: 1, waiting: 2 });
    expect(await heldIds()).toEqual(['A']);
    expect((await stores.tows.list({ ...ALL_TOWS, unsent: true, cursor: null, limit: 10 })).items).toEqual([]);
    expect(await stores.tows.counts(RULES.overdueAfter)).toMatchObject({ unsent: 0 });
  });

  test('cannot be sent while shadow mode is on', async () => {
    expect(await decide('A', { action: 'send' })).toBe('shadow_mode');
    expect(await heldIds()).toEqual(['A']);
  });

  test('is sent in order once a person chooses it', async () => {
    await turn('live');
    expect(await decide('A', { action: 'send' })).toBe('done');

    const first = await mustClaim(stores.outbox, 'A');
    expect(first.entry.kind).toBe('started');
    await stores.outbox.settle(first, result(ACCEPTED));
    expect((await mustClaim(stores.outbox, 'A')).entry.kind).toBe('detained');
    expect(await heldIds()).toEqual([]);
    expect(await decide('A', { action: 'send' })).toBe('not_held');
  });

  test('owes the service nothing any more once it is declined, also not for later facts', async () => {
    await turn('live');
    expect(await decide('A', { action: 'decline', reason: 'the other software did it' })).toBe('done');
    await stores.say('A', { event: 'released' });

    expect(await stores.states('A')).toEqual(['started waived', 'detained waived', 'released waived']);
    expect((await stores.read('A')).withheld).toBe('declined');
    expect((await standings(stores.redis)).reports).toEqual({ finished: 3 });
    expect(await heldIds()).toEqual([]);
  });

  test('is held also when it was only received in the shadow time', async () => {
    await stores.request('B');
    await turn('live');
    await stores.say('B', START);

    expect((await claim('B')).kind).toBe('needs_action');
  });

  test('is held also when a process in live mode recorded the fact during the shadow time', async () => {
    await stores.request('C');
    await stores.say('C', START);
    await claim('C');
    await turn('live');

    expect((await claim('C')).kind).toBe('needs_action');
    expect(await heldIds()).toEqual(['A', 'C']);
  });

  test('is held also when a process in live mode recorded the fact, and no worker looked before the switch', async () => {
    await stores.request('C');
    await stores.say('C', START);
    await turn('live');

    expect((await claim('C')).kind).toBe('needs_action');
    expect(await heldIds()).toEqual(['A', 'C']);
  });

  test('is held also when its first report is older than the shadow time', async () => {
    await turn('live');
    await stores.request('D');
    await stores.say('D', START);
    await turn('shadow');
    await stores.change('D', (draft) => {
      editEntryNamed(draft, 'started-1').createdAtMs -= 3_600_000;
    });
    await stores.say('D', { event: 'detained' });
    await turn('live');

    expect((await claim('D')).kind).toBe('needs_action');
  });

  test('is held also when a process in live mode received the tow request', async () => {
    await stores.request('E');
    await turn('live');
    await stores.say('E', START);

    expect((await claim('E')).kind).toBe('needs_action');
  });

  test('is due at once when a person sends it, also after it waited for the end of the shadow time', async () => {
    for (const waiting of ['1', '2', '3', '4', '5', '6']) await stores.redis.sadd(blockedKey('shadow'), waiting);
    await stores.request('F');
    await stores.say('F', START);
    await claim('F');
    await turn('live');

    expect(await decide('F', { action: 'send' })).toBe('done');

    expect(await stores.dueAt('F')).toBeLessThanOrEqual(await redisTimeMs(stores.redis));
  });

  test('is due at once when a person sends it, also if it waited for the rate limit before the shadow time', async () => {
    await stores.change('A', (draft, nowMs) => {
      editEntryNamed(draft, 'started-1').waitsFor = 'budget';
      draft.runAtMs = nowMs + 3_600_000;
    });
    await turn('live');

    expect(await decide('A', { action: 'send' })).toBe('done');

    expect(await stores.dueAt('A')).toBeLessThanOrEqual(await redisTimeMs(stores.redis));
  });

  test('can be paid and released after it was declined, although the service posted an invoice', async () => {
    await turn('live');
    await decide('A', { action: 'decline', reason: 'the other software did it' });
    await stores.acceptInvoice('A');
    await stores.process('invoice-A');
    await stores.say('A', { event: 'payment' });
    await stores.say('A', { event: 'released' });

    expect((await stores.read('A')).tow.state).toBe('released');
    expect(await stores.states('A')).toEqual([
      'started waived',
      'detained waived',
      'payment waived',
      'released waived',
    ]);
  });

  test('is in the CSV with each call, and a reference that looks like a formula is made harmless', async () => {
    await stores.request('=1+1');
    await stores.say('=1+1', START);

    let text = '';
    for await (const part of withheldCsv(createWithheldStore(stores.redis), (kind) => `http://x/${kind}`)) text += part;

    expect(text.split('\r\n').slice(0, 2)).toEqual([
      'recorded_at,kind,id,violation_reference_id,report_id,operation,method,address,body,images',
      expect.stringMatching(
        /^"[^"]+","tow","A","V-A","started-1","started","PATCH","http:\/\/x\/started","\{""violation_reference_id"":""V-A""/,
      ),
    ]);
    expect(text).toContain(`"'=1+1"`);
  });
});
