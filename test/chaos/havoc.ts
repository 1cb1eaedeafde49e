import { setTimeout as pause } from 'node:timers/promises';
import type { Mortal } from './mortal';
import { faultsIn, repeatsIn, type ServiceRecord } from './record';
import { LONG_FREEZE_MS, type Blow, type Victim } from './schedule';
import { CALM, DOWNPOUR, FAULTS_PLAYED } from './weather';

/** The kills and freezes that met a running process. */
export interface Havoc {
  readonly kills: Readonly<Record<'workers' | 'receiver' | 'redis', number>>;
  readonly freezes: Readonly<Record<'workers' | 'receiver' | 'redis', number>>;
  /** Of the freezes of workers, those that outlasted the lease. */
  readonly longFreezes: number;
}

export const NO_HAVOC: Havoc = {
  kills: { workers: 0, receiver: 0, redis: 0 },
  freezes: { workers: 0, receiver: 0, redis: 0 },
  longFreezes: 0,
};

/** What was done in two rounds. */
export function sumOf(one: Havoc, other: Havoc): Havoc {
  const add = (group: 'kills' | 'freezes') => ({
    workers: one[group].workers + other[group].workers,
    receiver: one[group].receiver + other[group].receiver,
    redis: one[group].redis + other[group].redis,
  });
  return { kills: add('kills'), freezes: add('freezes'), longFreezes: one.longFreezes + other.longFreezes };
}

export interface HavocTools {
  readonly victims: Readonly<Record<Victim, Mortal>>;
  readonly record: ServiceRecord;
  readonly signal: AbortSignal;
  /** How many calls must have been made again before the last storm may end. */
  readonly repeatsLeast: number;
}

/** A storm that has not played every fault by then leaves the rest to another round, which makes calls to hit. */
const LAST_STORM_MAX_MS = 20_000;
const LOOK_EVERY_MS = 500;

/**
 * Deals out the blows, each at its time; resolves when everything struck runs again and the weather is calm. Rejects when
 * something does not come up again.
 */
export async function wreak(schedule: readonly Blow[], tools: HavocTools): Promise<Havoc> {
  const startedMs = performance.now();
  const kills = { workers: 0, receiver: 0, redis: 0 };
  const freezes = { workers: 0, receiver: 0, redis: 0 };
  let longFreezes = 0;
  const deal = async (blow: Blow) => {
    await pause(Math.max(0, blow.atMs - (performance.now() - startedMs)), undefined, { signal: tools.signal });
    switch (blow.kind) {
      case 'weather':
        await tools.record.setFaults(blow.weather.rules);
        break;
      case 'kill':
        if (await tools.victims[blow.victim].kill(blow.lastsMs)) kills[groupOf(blow.victim)] += 1;
        break;
      case 'freeze':
        if (!(await tools.victims[blow.victim].freeze(blow.lastsMs))) break;
        freezes[groupOf(blow.victim)] += 1;
        if (groupOf(blow.victim) === 'workers' && blow.lastsMs >= LONG_FREEZE_MS) longFreezes += 1;
        break;
    }
  };
  const weathers = schedule.filter(({ kind }) => kind === 'weather');
  const strikes = schedule.filter(({ kind }) => kind !== 'weather');
  // A worker may be frozen for long after the last storm of the schedule: it must not become calm meanwhile.
  const storming = Promise.all(weathers.map(deal)).then(() => stormUntilPlayed(tools));
  await Promise.all([storming, ...strikes.map(deal)]);
  return { kills, freezes, longFreezes };
}

function groupOf(victim: Victim): keyof Havoc['kills'] {
  return victim === 'redis' || victim === 'receiver' ? victim : 'workers';
}

/**
 * A slow machine makes its calls when the storm of the schedule is over: then it goes on until each fault has hit, and
 * enough calls were made again.
 */
async function stormUntilPlayed({ record, signal, repeatsLeast }: HavocTools): Promise<void> {
  const untilMs = performance.now() + LAST_STORM_MAX_MS;
  while (performance.now() < untilMs && (await isTooMild(record, repeatsLeast))) {
    await record.setFaults(DOWNPOUR.rules);
    await pause(LOOK_EVERY_MS, undefined, { signal });
  }
  await record.setFaults(CALM.rules);
}

async function isTooMild(record: ServiceRecord, repeatsLeast: number): Promise<boolean> {
  const calls = await record.calls();
  const played = faultsIn(calls, await record.webhooks());
  return FAULTS_PLAYED.some((fault) => !played.has(fault)) || repeatsIn(calls) < repeatsLeast;
}
