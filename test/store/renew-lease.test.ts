import { KEYS, violationKey } from '../../src/store/keys';
import type { ViolationOutbox } from '../support/outboxes';
import { eventually } from '../support/eventually';
import { useStores } from '../support/stores';
import { endLease, leaseUntilMs } from '../support/stored-records';
import { join, mustClaimViolation, openOutbox, readViolation, reportViolations, takenAs } from '../support/violations';

const stores = useStores();
let outbox: ViolationOutbox;
beforeEach(async () => {
  outbox = openOutbox(stores, { leaseMs: 60_000 });
  await reportViolations(stores, 'U1');
});

const leaseEndMs = () => leaseUntilMs(stores.redis, violationKey('U1'));

describe('the renewal of a lease', () => {
  test('lets the lease last longer, keeps other workers away, and moves the time when the violation is due', async () => {
    const claimed = await mustClaimViolation(outbox, 'U1');
    const before = await leaseEndMs();

    await eventually(async () => {
      expect(await outbox.renew(claimed)).toBe(true);
      expect(await leaseEndMs()).toBeGreaterThan(before);
    });

    expect(Number(await stores.redis.zscore(KEYS.dueViolations, 'U1'))).toBe(await leaseEndMs());
    expect(await outbox.claim('U1')).toEqual({ kind: 'busy', untilMs: await leaseEndMs() });
    expect((await outbox.settle(claimed, takenAs('V-1'))).kind).toBe('done');
    expect(await readViolation(stores, 'U1')).toMatchObject({ state: 'accepted', attempts: 1 });
  });

  test('revives a lease that has expired, as long as no other worker has taken the violation', async () => {
    const claimed = await mustClaimViolation(outbox, 'U1');
    await endLease(stores.redis, violationKey('U1'));

    expect(await outbox.renew(claimed)).toBe(true);
    expect((await outbox.claim('U1')).kind).toBe('busy');
  });

  test('is refused once another worker has taken the violation, whose outcome is then unknown', async () => {
    const claimed = await mustClaimViolation(outbox, 'U1');
    await endLease(stores.redis, violationKey('U1'));
    await outbox.claim('U1');

    expect(await outbox.renew(claimed)).toBe(false);
    expect(await readViolation(stores, 'U1')).toMatchObject({ state: 'unknown' });
    expect(await leaseEndMs()).toBe(0);
  });

  test('is refused once a tow request has proved the violation', async () => {
    const claimed = await mustClaimViolation(outbox, 'U1');
    await join(stores, 'U1', { towingReference: 'TW-1', reference: 'V-1' });

    expect(await outbox.renew(claimed)).toBe(false);
  });

  test('is refused after the attempt was stored', async () => {
    const claimed = await mustClaimViolation(outbox, 'U1');
    await outbox.settle(claimed, takenAs('V-1'));

    expect(await outbox.renew(claimed)).toBe(false);
    expect(await leaseEndMs()).toBe(0);
  });
});
