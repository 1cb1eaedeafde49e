import { setTimeout as pause } from 'node:timers/promises';
import { violationSearchTerms } from '../../src/domain/search';
import type { ViolationApi, ViolationType } from '../../src/domain/vocabulary';
import { KEYS } from '../../src/store/keys';
import type { FaultRule } from '../../src/simulator/faults';
import { EVERY_TOW } from '../../src/workflow/list-port';
import { entryOf } from '../support/audit';
import { violationStandings } from '../support/conservation';
import { readViolation, violationOf } from '../support/violations';
import { createLife, type Fate, type Life } from './mortal-worker';
import { VIOLATION_ID, type ViolationLane } from './violation-lane';

/** A violation that a worker is woken for, in all the ways it can come out. */
export interface ViolationScenario {
  readonly name: string;
  /** How it ends when nobody dies. */
  readonly end: ViolationEnd;
  readonly api?: ViolationApi;
  readonly violationType?: ViolationType;
  readonly hasActiveTicket?: boolean;
  readonly isWaived?: boolean;
  readonly fault?: Pick<FaultRule, 'fault' | 'times'>;
  /** A death around the call may leave it to a person whether the service has the violation. */
  readonly mayNeedPerson?: boolean;
}

/** What a run came to. */
export interface ViolationEnd {
  readonly state: string;
  readonly tasks: readonly string[];
  /** Whether its image is still in the spool. */
  readonly image: 'kept' | 'gone';
  /** Whether the tow that was requested for it knows where it comes from; null when none was requested. */
  readonly isTowJoined: boolean | null;
  readonly standing: string;
}

export interface ViolationRun {
  /** The calls the first worker made of its ports, the one it was struck at included. */
  readonly calls: readonly string[];
  readonly wasStruck: boolean;
  readonly end: ViolationEnd;
  /** How many violations the service has because of it. */
  readonly made: number;
}

const LOOK_EVERY_MS = 25;
/** Longer than a tow request takes on a busy machine. */
const PROOF_MS = 1500;
const FORWARD_MS = 100;
const FAR_AHEAD_MS = 60_000;
const SETTLE_LIMIT_MS = 20_000;

/** Plays a scenario once; see play in sweep.ts. */
export async function playViolation(
  scenario: ViolationScenario,
  lane: ViolationLane,
  fate: Fate | null,
): Promise<ViolationRun> {
  await lane.clear();
  lane.settings.proofMs = PROOF_MS;
  lane.settings.hasActiveTicket = scenario.hasActiveTicket === true;
  const operation = scenario.api === 'guide' ? 'violation_guide' : 'violation';
  await lane.service.setFaults(scenario.fault ? [{ operation, ...scenario.fault }] : []);
  const before = await seen(lane);
  const file = await prepare(scenario, lane);
  const life = createLife(fate);
  const living = lane.submit(VIOLATION_ID, life).then(() => drain(lane, { life, before }));
  await Promise.race([living, life.struck]);
  if (life.isStruck()) {
    // Another is woken at once, too early, as wake-ups come when they like.
    await lane.submit(VIOLATION_ID, createLife(null));
    await drain(lane, { life: createLife(null), before });
  }
  if (fate?.what === 'frozen before') {
    life.thaw();
    await living;
    await drain(lane, { life: createLife(null), before });
  }
  const { made } = await seen(lane);
  return { calls: life.calls, wasStruck: life.isStruck(), end: await endOf(lane, file), made: made - before.made };
}

async function prepare(scenario: ViolationScenario, lane: ViolationLane): Promise<string> {
  const { file, sizeBytes, sha256 } = await lane.keepImage();
  const image = { file, name: 'front.png', contentType: 'image/png', sizeBytes, sha256 };
  const plain = violationOf(VIOLATION_ID, { api: scenario.api ?? 'reference', images: [image] });
  const form = { ...plain.form, violationType: scenario.violationType ?? 'WRONG_PARKING' };
  const violation = { ...plain, form };
  const { violations } = lane.stores;
  const act = { audit: entryOf('violation.reported'), remember: undefined };
  await violations.create(violation, { searchTerms: violationSearchTerms(violation, null) }, act);
  if (scenario.isWaived) {
    const waive = { action: 'waive', reason: 'no', audit: entryOf('violation.waived') } as const;
    await violations.decide(await readViolation(lane.stores, VIOLATION_ID), waive);
  }
  return file;
}

interface Seen {
  /** Violations that the service has. */
  readonly made: number;
  /** Tow requests that its stand-in has ordered, and those of them that have arrived. */
  readonly requested: number;
  readonly arrived: number;
}

async function seen({ service }: ViolationLane): Promise<Seen> {
  const calls = await service.calls();
  const made = calls.filter(({ operation, effect }) => operation.startsWith('violation') && effect);
  const requests = (await service.webhooks()).filter(({ kind }) => kind === 'tow_request');
  const arrived = requests.filter(({ status }) => status === 200);
  return { made: made.length, requested: requests.length, arrived: arrived.length };
}

async function drain(lane: ViolationLane, { life, before }: { life: Life; before: Seen }): Promise<void> {
  const untilMs = performance.now() + SETTLE_LIMIT_MS;
  while (!(await isSettled(lane, before))) {
    if (performance.now() > untilMs) throw new Error('the violation did not come to rest');
    for (const id of await lane.stores.due.deliveries.take(50, FORWARD_MS)) await lane.processDelivery(id);
    for (const id of await lane.stores.due.violations.take(50, FORWARD_MS)) await lane.submit(id, life);
    await pause(LOOK_EVERY_MS);
  }
}

async function isSettled(lane: ViolationLane, before: Seen): Promise<boolean> {
  const { redis } = lane.stores;
  const isAtRest = async () => {
    const due = [KEYS.dueViolations, KEYS.dueDeliveries].map((key) =>
      redis.zcount(key, '-inf', Date.now() + FAR_AHEAD_MS),
    );
    return (await Promise.all(due)).every((count) => count === 0);
  };
  // What comes in between two looks is seen by the last one.
  return (await isAtRest()) && !(await isRequestOnItsWay(lane, before)) && (await isAtRest());
}

/** Whatever can be towed is, a moment after it was made; until the request arrived, all is not over. */
async function isRequestOnItsWay(lane: ViolationLane, before: Seen): Promise<boolean> {
  const { made, arrived } = await seen(lane);
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
    image: (await lane.hasImage(file)) ? 'kept' : 'gone',
    isTowJoined:
      items.length === 0
        ? null
        : items.every(({ tow }) => tow.violationId === VIOLATION_ID && tow.plateNumber !== null),
    standing: Object.keys(await violationStandings(redis)).join(', '),
  };
}
