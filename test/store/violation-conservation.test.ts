import { refusedTask } from '../../src/domain/outbox/escalate-entry';
import { KEYS, violationKey } from '../../src/store/keys';
import { createTaskStore } from '../../src/store/ops/tasks';
import type { ViolationOutbox } from '../support/outboxes';
import { violationStandings, walk } from '../support/conservation';
import { eventually } from '../support/eventually';
import { endLease, leaseUntilMs, setCircuit } from '../support/stored-records';
import { LEASE_MS, useStores, UNKNOWN } from '../support/stores';
import {
  claimAs,
  decide,
  join,
  createAcceptedViolation,
  mustClaimViolation,
  openOutbox,
  outcome,
  reportViolations,
  takenAs,
} from '../support/violations';

let outbox: ViolationOutbox;
const stores = useStores();
beforeEach(() => {
  outbox = openOutbox(stores);
});

const standings = () => violationStandings(stores.redis);
const listedTask = () => createTaskStore(stores.redis).read('violation.U1');
const isDue = async () => (await stores.redis.zscore(KEYS.dueViolations, 'U1')) !== null;

async function refused(): Promise<void> {
  await reportViolations(stores, 'U1');
  const task = refusedTask({ kind: 'violation', id: 'U1', httpStatus: 400, message: 'no', hint: null });
  await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome({ next: 'refused', hint: null }, { task }));
}

describe('conservation check: violations', () => {
  test('a violation is counted as waiting from its report until it is accepted and its data is cleaned up', async () => {
    await reportViolations(stores, 'U1');
    expect(await standings()).toEqual({ waiting: 1 });
    const claimed = await mustClaimViolation(outbox, 'U1');
    expect(await standings()).toEqual({ waiting: 1 });
    await outbox.settle(claimed, outcome({ next: 'retry', delayMs: 0, because: 'failed' }));
    expect(await standings()).toEqual({ waiting: 1 });
    await outbox.settle(await mustClaimViolation(outbox, 'U1'), takenAs('V-1'));
    expect(await standings()).toEqual({ waiting: 1 });
    const { record } = await claimAs(outbox, 'U1', 'cleanup');
    expect(await standings()).toEqual({ waiting: 1 });
    await outbox.completeCleanup(record);

    expect(await standings()).toEqual({ finished: 1 });
  });

  test('a violation whose worker is lost is counted as waiting while proof may arrive, and then as escalated', async () => {
    await reportViolations(stores, 'U1');
    await mustClaimViolation(outbox, 'U1');
    const leaseEnd = await leaseUntilMs(stores.redis, violationKey('U1'));
    await eventually(() => expect(Date.now()).toBeGreaterThan(leaseEnd));
    expect(await standings()).toEqual({ waiting: 1 });
    await eventually(() => claimAs(outbox, 'U1', 'escalated'));
    expect(await standings()).toEqual({ with_a_person: 1 });

    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-1' });
    expect(await standings()).toEqual({ waiting: 1 });
  });

  test('a violation without an answer is counted as waiting for proof', async () => {
    await reportViolations(stores, 'U1');
    await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome(UNKNOWN));

    expect(await standings()).toEqual({ waiting: 1 });
  });

  test('a refused violation is counted as escalated, and each decision continues it', async () => {
    await refused();
    expect(await standings()).toEqual({ with_a_person: 1 });

    await decide(stores, 'U1', { action: 'retry' });
    expect(await standings()).toEqual({ waiting: 1 });
  });

  test('a violation blocked by an active ticket is counted as escalated', async () => {
    await reportViolations(stores, 'U1');
    const claimed = await mustClaimViolation(outbox, 'U1');
    await outbox.giveBack(claimed, { kind: 'ticket_known', hasActiveTicket: true });

    expect(await standings()).toEqual({ with_a_person: 1 });
  });

  test('a violation blocked by a circuit is counted as waiting', async () => {
    await reportViolations(stores, 'U1');
    await setCircuit(stores.redis, 'paused.violation', { untilMs: Date.now() + 300_000 });
    expect((await outbox.claim('U1')).kind).toBe('wait');

    expect(await standings()).toEqual({ waiting: 1 });
  });
});

describe('conservation scan of lost violations', () => {
  test('a violation without its record is counted as lost and named in the result', async () => {
    await reportViolations(stores, 'U1', 'U2');
    await stores.redis.del('{towhook-main}:violation:U2');

    const { violations, lostNames } = await walk(stores.redis);

    expect(violations).toMatchObject({ acknowledged: 2, waiting: 1, lost: 1, repaired: 0 });
    expect(lostNames).toEqual(['violation U2']);
    expect(await stores.redis.hexists(KEYS.tasks, 'records_lost')).toBe(1);
  });

  test('a violation in an unknown state is counted as lost', async () => {
    await reportViolations(stores, 'U1');
    await stores.redis.hset('{towhook-main}:violation:U1', 'r1', '{"seq":1,"state":"odd"}');

    expect(await standings()).toEqual({ lost: 1 });
  });

  test('a violation that needs a decision but has no task is counted as lost', async () => {
    await refused();
    await stores.redis.hdel('{towhook-main}:violation:U1', 'tasks');

    expect(await standings()).toEqual({ lost: 1 });
    expect(await isDue()).toBe(false);
  });

  test('a violation whose task is not listed is counted as lost, and its task is listed again', async () => {
    await refused();
    const task = await listedTask();
    await stores.redis.hdel(KEYS.tasks, 'violation.U1');

    expect(await standings()).toEqual({ lost: 1, repaired: 1 });

    expect(await standings()).toEqual({ with_a_person: 1 });
    expect(await listedTask()).toEqual(task);
    expect(await isDue()).toBe(false);
  });

  test.each<[string, () => Promise<void>]>([
    ['before it was sent', () => Promise.resolve()],
    [
      'between two tries',
      async () => {
        const retry = { next: 'retry', delayMs: 60_000, because: 'failed' } as const;
        await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome(retry));
      },
    ],
    [
      'once it is to be cleared up',
      async () => {
        await outbox.settle(await mustClaimViolation(outbox, 'U1'), takenAs('V-1'));
      },
    ],
    [
      'under a dead lease',
      async () => {
        await mustClaimViolation(openOutbox(stores, { leaseMs: LEASE_MS }), 'U1');
        await endLease(stores.redis, violationKey('U1'));
      },
    ],
  ])(
    'a violation without a schedule entry %s is counted as lost, scheduled again and continued',
    async (_when, live) => {
      await reportViolations(stores, 'U1');
      await live();
      await stores.redis.zrem(KEYS.dueViolations, 'U1');

      expect(await standings()).toEqual({ lost: 1, repaired: 1 });

      expect(await isDue()).toBe(true);
      expect(await standings()).toEqual({ waiting: 1 });
      expect(['send', 'wait', 'cleanup']).toContain((await outbox.claim('U1')).kind);
    },
  );
});

test('finished violations are counted as finished together with deliveries and reports', async () => {
  await createAcceptedViolation(stores, 'U1');
  await stores.request('T1');

  const { deliveries, violations, reports } = await walk(stores.redis);

  expect([deliveries.finished, violations.finished, reports.acknowledged]).toEqual([1, 1, 0]);
});
