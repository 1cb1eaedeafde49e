import { setTimeout as pause } from 'node:timers/promises';
import { violationSearchTerms } from '../../src/domain/search';
import type { ViolationApi, ViolationType } from '../../src/domain/vocabulary';
import { KEYS } from '../../src/store/keys';
import type { FaultRule } from '../../src/simulator/faults';
import { EVERY_TOW } from '../../src/workflow/list-port';
import { entryOf } from '../support/audit';
import { violationStandings } from '../support/conservation';
import { readViolation, violationOf } from '../support/violations';
import { createWorker, type Interruption, type InterruptibleWorker } from './interruptible-worker';
import { VIOLATION_ID, type ViolationLane } from './violation-lane';

/** A violation for a worker to submit and the ways in which it may end. */
export interface ViolationScenario {
  readonly name: string;
  /** The end of an uninterrupted run. */
  readonly end: ViolationEnd;
  readonly api?: ViolationApi;
  readonly violationType?: ViolationType;
  readonly hasActiveTicket?: boolean;
  readonly isWaived?: boolean;
  readonly fault?: Pick<FaultRule, 'fault' | 'times'>;
  /** An interruption around the call may leave a person to decide whether the service has the violation. */
  readonly mayNeedPerson?: boolean;
}

/** The end of a run. */
export interface ViolationEnd {
  readonly state: string;
  readonly tasks: readonly string[];
  /** Whether its image is still in the spool. */
  readonly image: 'kept' | 'deleted';
  /** Whether the tow requested for it is joined to it; null when no tow was requested. */
  readonly isTowJoined: boolean | null;
  /** Its state in the conservation check. */
  readonly conservation: string;
}

export interface ViolationRun {
  /** The calls that the first worker made to its ports, including the interrupted one. */
  readonly calls: readonly string[];
  readonly wasInterrupted: boolean;
  readonly end: ViolationEnd;
  /** How many violations the service created in this run. */
  readonly made: number;
}

const CHECK_EVERY_MS = 25;
/** The tow request arrives after 20 ms, on a busy machine after seconds; it must arrive within this time. */
const PROOF_MS = 5000;
const RETAKE_AFTER_MS = 100;
const FAR_AHEAD_MS = 60_000;
/** Ends a run that hangs. */
const SETTLE_LIMIT_MS = 120_000;

/** Plays a scenario once; see play in sweep.ts. */
export async function playViolation(
  scenario: ViolationScenario,
  lane: ViolationLane,
  interruption: Interruption | null,
): Promise<ViolationRun> {
  await lane.clear();
  lane.settings.proofMs = PROOF_MS;
  lane.settings.hasActiveTicket = scenario.hasActiveTicket === true;
  const operation = scenario.api === 'guide' ? 'violation_guide' : 'violation';
  await lane.service.setFaults(scenario.fault ? [{ operation, ...scenario.fault }] : []);
  const before = await countAtService(lane);
  const file = await prepare(scenario, lane);
  const worker = createWorker(interruption);
  const firstRun = lane.submit(VIOLATION_ID, worker).then(() => drain(lane, { worker, before }));
  await Promise.race([firstRun, worker.interrupted]);
  if (worker.isInterrupted()) {
    // A second job may start before the lease of the first worker expires.
    await lane.submit(VIOLATION_ID, createWorker(null));
    await drain(lane, { worker: createWorker(null), before });
  }
  if (interruption?.what === 'frozen before') {
    worker.resume();
    await firstRun;
    await drain(lane, { worker: createWorker(null), before });
  }
  const { made } = await countAtService(lane);
  return {
    calls: worker.calls,
    wasInterrupted: worker.isInterrupted(),
    end: await endOf(lane, file),
    made: made - before.made,
  };
}

async function prepare(scenario: ViolationScenario, lane: ViolationLane): Promise<string> {
  const { file, sizeBytes, sha256 } = await lane.keepImage();
  const image = { file, name: 'front.png', contentType: 'image/png', sizeBytes, sha256 };
  const base = violationOf(VIOLATION_ID, { api: scenario.api ?? 'reference', images: [image] });
  const form = { ...base.form, violationType: scenario.violationType ?? 'WRONG_PARKING' };
  const violation = { ...base, form };
  const { violations } = lane.stores;
  const act = { audit: entryOf('violation.reported'), remember: undefined };
  await violations.create(violation, { searchTerms: violationSearchTerms(violation, null) }, act);
  if (scenario.isWaived) {
    const waive = { action: 'waive', reason: 'no', audit: entryOf('violation.waived') } as const;
    await violations.decide(await readViolation(lane.stores, VIOLATION_ID), waive);
  }
  return file;
}

interface ServiceCounts {
  /** Violations that the service created. */
  readonly made: number;
  /** Tow requests that the service sent, and those of them that were answered 200. */
  readonly requested: number;
  readonly arrived: number;
}

async function countAtService({ service }: ViolationLane): Promise<ServiceCounts> {
  const calls = await service.calls();
  const made = calls.filter(({ operation, effect }) => operation.startsWith('violation') && effect);
  const requests = (await service.webhooks()).filter(({ kind }) => kind === 'tow_request');
  const arrived = requests.filter(({ status }) => status === 200);
  return { made: made.length, requested: requests.length, arrived: arrived.length };
}

async function drain(
  lane: ViolationLane,
  { worker, before }: { worker: InterruptibleWorker; before: ServiceCounts },
): Promise<void> {
  const untilMs = performance.now() + SETTLE_LIMIT_MS;
  while (!(await isSettled(lane, before))) {
    if (performance.now() > untilMs) throw new Error('the violation did not settle');
    for (const id of await lane.stores.due.deliveries.take(50, RETAKE_AFTER_MS)) await lane.processDelivery(id);
    for (const id of await lane.stores.due.violations.take(50, RETAKE_AFTER_MS)) await lane.submit(id, worker);
    await pause(CHECK_EVERY_MS);
  }
}

async function isSettled(lane: ViolationLane, before: ServiceCounts): Promise<boolean> {
  const { redis } = lane.stores;
  const hasNoDueWork = async () => {
    const due = [KEYS.dueViolations, KEYS.dueDeliveries].map((key) =>
      redis.zcount(key, '-inf', Date.now() + FAR_AHEAD_MS),
    );
    return (await Promise.all(due)).every((count) => count === 0);
  };
  // A tow request that arrives between the first two checks creates work that the third one finds.
  return (await hasNoDueWork()) && !(await isTowRequestPending(lane, before)) && (await hasNoDueWork());
}

/** True until the tow request of a created violation has arrived, if its vehicle can be towed. */
async function isTowRequestPending(lane: ViolationLane, before: ServiceCounts): Promise<boolean> {
  const { made, arrived } = await countAtService(lane);
  const { violation } = await readViolation(lane.stores, VIOLATION_ID);
  return violation.form.violationType === 'WRONG_PARKING' && arrived - before.arrived < made - before.made;
}

async function endOf(lane: ViolationLane, file: string): Promise<ViolationEnd> {
  const { tows, redis } = lane.stores;
  const { state, inFlight } = await readViolation(lane.stores, VIOLATION_ID);
  const { items } = await tows.list({ ...EVERY_TOW, cursor: null, limit: 10 });
  const tasks = await redis.hvals(KEYS.tasks);
  return {
    state: inFlight ? `${state} in flight` : state,
    tasks: tasks.map((json) => /"type":"(\w+)"/.exec(json)?.[1] ?? json),
    image: (await lane.hasImage(file)) ? 'kept' : 'deleted',
    isTowJoined:
      items.length === 0
        ? null
        : items.every(({ tow }) => tow.violationId === VIOLATION_ID && tow.plateNumber !== null),
    conservation: Object.keys(await violationStandings(redis)).join(', '),
  };
}
