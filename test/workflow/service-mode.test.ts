import type { ProcessStatus } from '../../src/workflow/ops/metrics-port';
import { silentLog } from '../../src/platform/log/log';
import { editEntryNamed } from '../../src/domain/tow/stored-tow';
import { KEYS } from '../../src/store/keys';
import { createAuditStore } from '../../src/store/ops/audit';
import { createWithheldStore } from '../../src/store/outbox/withheld';
import { ALL_TOWS } from '../../src/workflow/list-port';
import { agreeOnMode, switchMode, type ModeTools } from '../../src/workflow/outbox/service-mode';
import { eventually } from '../support/eventually';
import { openStores, RULES, START, TESTER, useStores } from '../support/stores';

const stores = useStores({ leaseMs: 60_000 });
const redis = stores.server;

const NONE_RUNNING: readonly ProcessStatus[] = [];
const runsIn = (mode: 'live' | 'shadow', isSilent = false): ProcessStatus => ({
  id: mode,
  role: 'worker',
  mode,
  hostName: 'host',
  processId: 1,
  version: '1.0.0',
  schema: 1,
  nodeVersion: 'v20.0.0',
  startedAtMs: 0,
  beatAtMs: 0,
  beatAgeMs: 0,
  isSilent,
  isReady: true,
  problems: [],
  missingDataKeys: [],
  service: null,
  clockOffsetSeconds: 0,
  queues: [],
});

const agree = (
  mode: 'live' | 'shadow',
  running: readonly ProcessStatus[] = NONE_RUNNING,
  others: Partial<ModeTools> = {},
) =>
  agreeOnMode({
    mode,
    records: stores.records,
    processes: { list: () => Promise.resolve(running) },
    areOthersKnown: () => true,
    log: silentLog,
    ...others,
  });

/** Lets the shadow mode begin a minute ago, as if its processes had long had their first heartbeat. */
async function beginShadow() {
  await agree('shadow');
  const stored = (await stores.redis.hget(KEYS.circuits, 'circuits')) ?? '';
  const earlier = stored.replace(/"sinceMs":(\d+)/, (_all, ms: string) => `"sinceMs":${Number(ms) - 60_000}`);
  await stores.redis.hset(KEYS.circuits, 'circuits', earlier);
}

const claim = (ref: string) => stores.outbox.claim(ref);
describe('the common mode', () => {
  test('a process in shadow mode blocks the reports of all tows, also of those recorded in live mode before', async () => {
    await stores.request('A');
    await stores.say('A', START);
    await agree('shadow');

    expect((await claim('A')).kind).toBe('wait');
    expect((await stores.read('A')).reports[0]).toMatchObject({ state: 'pending', waitsFor: 'shadow' });
  });

  test('a report recorded in live mode before shadow mode is counted and listed as unsent', async () => {
    await stores.request('A');
    await stores.say('A', START);
    await agree('shadow');
    await claim('A');

    expect(await stores.tows.counts(RULES.overdueAfter)).toMatchObject({ unsent: 1 });
    expect((await stores.tows.list({ ...ALL_TOWS, unsent: true, cursor: null, limit: 10 })).items).toHaveLength(1);
  });

  test('a process in live mode ends the shadow mode only when no live process is in shadow mode any more', async () => {
    await beginShadow();

    expect(await agree('live', [runsIn('live'), runsIn('shadow')])).toMatchObject({ isContradicted: true });
    expect((await createWithheldStore(stores.redis).summary()).sinceMs).not.toBeNull();

    expect(await agree('live', [runsIn('live'), runsIn('shadow', true)])).toMatchObject({ sinceMs: null });
    expect(await createWithheldStore(stores.redis).summary()).toMatchObject({ sinceMs: null });
  });

  test('a process in live mode leaves the shadow mode on while other processes may look silent although they run', async () => {
    await beginShadow();
    const looksSilent = [runsIn('live'), runsIn('shadow', true)];

    expect(await agree('live', looksSilent, { areOthersKnown: () => false })).toMatchObject({ isContradicted: false });
    expect((await createWithheldStore(stores.redis).summary()).sinceMs).not.toBeNull();

    expect(await agree('live', looksSilent)).toMatchObject({ sinceMs: null });
  });

  test('shadow mode that a clock has begun tomorrow is ended by a process in live mode', async () => {
    await agree('shadow');
    const stored = (await stores.redis.hget(KEYS.circuits, 'circuits')) ?? '';
    const later = stored.replace(/"sinceMs":(\d+)/, (_all, ms: string) => `"sinceMs":${Number(ms) + 86_400_000}`);
    await stores.redis.hset(KEYS.circuits, 'circuits', later);

    expect(await agree('live')).toEqual({ sinceMs: null, isContradicted: false });
  });

  test('shadow mode that has just begun is not ended before its process had time for a first heartbeat', async () => {
    await agree('shadow');

    const { sinceMs, isContradicted } = await agree('live');

    expect(sinceMs).not.toBeNull();
    expect(isContradicted).toBe(false);
  });

  test('a process in shadow mode sends nothing although the data in Redis say live, and stops the others', async () => {
    const copy = await openStores(redis.url);
    copy.records.sendNothing();
    try {
      await stores.request('A');
      await stores.say('A', START);

      expect((await copy.outbox.claim('A')).kind).toBe('wait');
      expect((await claim('A')).kind).toBe('wait');
      expect((await createWithheldStore(stores.redis).summary()).sinceMs).not.toBeNull();
    } finally {
      copy.close();
    }
  });

  test('the end of shadow mode makes the reports due that were recorded in live mode before it', async () => {
    await stores.request('A');
    await stores.say('A', START);
    await stores.change('A', (draft) => {
      editEntryNamed(draft, 'started-1').createdAtMs -= 3_600_000;
    });
    await beginShadow();
    await claim('A');
    await agree('live');

    await eventually(async () => expect((await claim('A')).kind).toBe('send'));
  });
});

describe('the switch of ops', () => {
  const modeTools = (running: readonly ProcessStatus[], mode: 'live' | 'shadow' = 'live'): ModeTools => ({
    mode,
    records: stores.records,
    processes: { list: () => Promise.resolve(running) },
    areOthersKnown: () => true,
    log: silentLog,
  });
  const turn = (mode: 'live' | 'shadow', running: readonly ProcessStatus[] = [runsIn('live')]) =>
    switchMode(modeTools(running), { mode, reason: 'a test', actor: TESTER, idempotency: undefined });
  const summary = () => createWithheldStore(stores.redis).summary();
  const audited = async () =>
    (await createAuditStore(stores.redis).list({ cursor: null, limit: 10, towingReferenceId: null })).items.flatMap(
      ({ action, why }) => (action.startsWith('sending.') ? [[action, why]] : []),
    );

  test('stops all sending at once, also for a process that has just seen the circuits closed', async () => {
    const other = await openStores(redis.url);
    try {
      await stores.request('A');
      await stores.say('A', START);
      await stores.request('B');
      await stores.say('B', START);
      expect((await other.outbox.claim('A')).kind).toBe('send');

      await turn('shadow');

      expect((await other.outbox.claim('B')).kind).toBe('wait');
      expect((await stores.outbox.claim('B')).kind).toBe('wait');
    } finally {
      other.close();
    }
  });

  test('stays off while every process runs in live mode, until ops goes live', async () => {
    await turn('shadow');
    await stores.request('A');
    await stores.say('A', START);

    expect(await agree('live', [runsIn('live')])).toMatchObject({ isContradicted: false });
    expect(await summary()).toMatchObject({ isSwitchedOff: true, held: 1 });

    await turn('live');
    expect(await summary()).toEqual({ sinceMs: null, isSwitchedOff: false, held: 1 });
    expect((await claim('A')).kind).toBe('needs_action');
    expect(await audited()).toEqual([
      ['sending.resumed', 'a test'],
      ['sending.stopped', 'a test'],
    ]);
  });

  test('is refused to go live while a process runs in shadow mode, and the answer names that process', async () => {
    await beginShadow();

    expect(await turn('live', [runsIn('live'), runsIn('shadow')])).toMatchObject({
      kind: 'refused',
      refusal: {
        code: 'mode_held',
        details: [{ field: 'process 1 on host', rule: 'runs with SERVICE_MODE=shadow' }],
      },
    });
    expect((await summary()).sinceMs).not.toBeNull();
    expect(await turn('live', [runsIn('live'), runsIn('shadow', true)])).toMatchObject({ kind: 'done' });
    expect(await summary()).toMatchObject({ sinceMs: null });
  });

  test('keeps shadow mode on when the process that began it has stopped', async () => {
    await beginShadow();
    await turn('shadow', [runsIn('shadow')]);

    expect((await agree('live', [runsIn('live')])).sinceMs).not.toBeNull();
    expect(await turn('live')).toMatchObject({ kind: 'done' });
    expect(await agree('live', [runsIn('live')])).toMatchObject({ sinceMs: null });
  });

  test('has no effect and no entry in the audit when it is as wanted', async () => {
    await turn('live');
    await turn('shadow');
    await turn('shadow');

    expect(await audited()).toEqual([['sending.stopped', 'a test']]);
  });
});
