import { KEYS } from '../../src/store/keys';
import { NOT_SENT, refusedWith } from '../support/exchanges';
import type { ViolationOutbox } from '../support/outboxes';
import { useDataDir } from '../archive/folder';
import { eventually } from '../support/eventually';
import { openRetention } from '../support/retention';
import { UNKNOWN, useStores } from '../support/stores';
import {
  claimAs,
  decide,
  join,
  link,
  mustClaimViolation,
  openOutbox,
  outcome,
  readViolation,
  report,
  reportViolations,
  violationOf,
} from '../support/violations';

const stores = useStores();
const dataDir = useDataDir();
let outbox: ViolationOutbox;
beforeEach(() => {
  outbox = openOutbox(stores);
});

const REFUSED = { next: 'refused', hint: null } as const;
const tow = (name: string, reference: string) => ({ towingReference: name, reference });
const read = (id: string) => readViolation(stores, id);
const openTasks = () => stores.redis.hkeys(KEYS.tasks);

async function waive(id: string): Promise<void> {
  expect(await decide(stores, id, { action: 'waive', reason: 'no' })).toBe('saved');
}

async function correct(id: string): Promise<void> {
  await decide(stores, id, { action: 'correct', fields: { plateNumber: 'XYZ 99' } });
}

describe('metadata id of a violation', () => {
  test('one of many violations that are reported with the same metadata id at the same time is stored', async () => {
    const all = Array.from({ length: 20 }, (_, index) => violationOf(`U${index}`, { metadata: { id: 'shared' } }));

    const kinds = await Promise.all(all.map((violation) => report(stores, violation)));

    expect(kinds.filter((kind) => kind === 'saved')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'alias_taken')).toHaveLength(19);
    const listed = { state: null, search: null, cursor: null, limit: 50 };
    expect((await stores.violations.list(listed)).items).toHaveLength(1);
    expect(await stores.redis.zcard(KEYS.indexViolations)).toBe(1);
  });

  test('a violation whose metadata id is the own id of another violation is refused', async () => {
    await reportViolations(stores, 'U1');

    expect(await report(stores, violationOf('U2', { metadata: { id: 'U1' } }))).toBe('alias_taken');
    expect((await stores.violations.read('U1'))?.violation.id).toBe('U1');
  });

  const again = () => report(stores, violationOf('U2', { metadata: { id: 'own-U1' } }));

  test('another violation can take the metadata id of a waived unsent violation, which is still found by its own id', async () => {
    await reportViolations(stores, 'U1');
    const no = outcome(REFUSED, { exchange: refusedWith(400) });
    await outbox.settle(await mustClaimViolation(outbox, 'U1'), no);
    expect(await again()).toBe('alias_taken');
    await waive('U1');

    expect(await again()).toBe('saved');

    expect((await read('own-U1')).violation.id).toBe('U2');
    expect((await read('U1')).state).toBe('waived');
  });

  test('a waived unsent violation is found by its metadata id until another violation takes the id', async () => {
    await reportViolations(stores, 'U1');
    await waive('U1');

    expect((await read('own-U1')).violation.id).toBe('U1');
  });

  test('a metadata id taken over by another violation stays with it when the waived violation is archived', async () => {
    await reportViolations(stores, 'U1');
    await waive('U1');
    expect(await again()).toBe('saved');
    const { record } = await claimAs(outbox, 'U1', 'cleanup');
    await outbox.completeCleanup(record);
    const retention = openRetention(stores, dataDir.path);
    await retention.sweepAll();
    await retention.close();

    expect(await stores.violations.read('U1')).toBeNull();
    expect((await read('own-U1')).violation.id).toBe('U2');
  });
});

describe('proof of a violation that was corrected', () => {
  const TASK = 'violation_before_correction.U1';

  async function refusedAfter(first: Parameters<typeof outcome>): Promise<void> {
    await reportViolations(stores, 'U1');
    await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome(...first));
    await outbox.settle(
      await eventually(() => mustClaimViolation(outbox, 'U1')),
      outcome(REFUSED, { exchange: refusedWith(400) }),
    );
    await correct('U1');
  }
  const FAILED = { next: 'retry', delayMs: 0, because: 'failed' } as const;
  const RETRY_UNSENT = { next: 'retry', delayMs: 0, because: 'surely_not_sent' } as const;

  test('proof of a violation that was corrected since it was sent opens a task, and the violation stays until the task is closed', async () => {
    await refusedAfter([FAILED]);
    await join(stores, 'U1', tow('TW-1', 'V-1'));

    expect((await read('U1')).state).toBe('accepted');
    expect(await openTasks()).toEqual([TASK]);
    const { record } = await claimAs(outbox, 'U1', 'cleanup');
    await outbox.completeCleanup(record);
    expect(await stores.redis.zscore(KEYS.retireViolations, 'U1')).toBeNull();
    expect(await stores.resolve(TASK)).toBe('done');
    expect(await stores.redis.zscore(KEYS.retireViolations, 'U1')).not.toBeNull();
  });

  test('manual acceptance of a violation that was corrected since it was sent opens a task', async () => {
    await refusedAfter([FAILED]);
    const body = { violation_reference_id: 'V-1', towing_reference_id: 'TW-1' };
    await stores.accept('tow_request', body, 'request-TW-1');
    await stores.process('request-TW-1');
    expect(await link(stores, 'U1', 'TW-1')).toBe('done');

    expect(await openTasks()).toEqual([TASK]);
  });

  test('proof of a violation opens no task when only its corrected form can have taken effect', async () => {
    await refusedAfter([RETRY_UNSENT, { exchange: NOT_SENT }]);
    await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome(UNKNOWN));
    await join(stores, 'U1', tow('TW-1', 'V-1'));

    expect((await read('U1')).state).toBe('accepted');
    expect(await openTasks()).toEqual([]);
  });
});
