import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../src/platform/clock';
import type { PatientClient } from './client';
import { playTow, type Story } from './crew';
import { wreak, type Havoc } from './havoc';
import { livesOf } from './lives';
import type { ServiceRecord } from './record';
import { scheduleOf } from './schedule';
import type { Stage } from './stage';
import { retriesLeast } from './verdict';
import { wakeForNothing } from './stray';

export interface StormTools {
  readonly client: PatientClient;
  readonly record: ServiceRecord;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** When to give up, by the clock that never jumps. */
  readonly untilMs: number;
  /** Called for every tow of which the crew has said everything. */
  readonly told: () => void;
}

/** What a storm leaves behind. */
export interface Stormed {
  readonly stories: readonly Story[];
  readonly havoc: Havoc;
  readonly strayWakeUps: number;
}

/** Lets the tows live and the blows fall, all at once; resolves when everything was said and everything runs again. */
export async function rideOut(
  stage: Stage,
  options: { seed: number; tows: number; stormMs: number },
  tools: StormTools,
): Promise<Stormed> {
  const { seed, tows, stormMs } = options;
  const refs: string[] = [];
  const violationIds: string[] = [];
  const over = new AbortController();
  const signal = AbortSignal.any([tools.signal, over.signal]);
  let count = 0;
  const living = livesOf(seed, tows, stormMs).map(async (life, index) => {
    await pause(life.arrivesAtMs, undefined, { signal: tools.signal });
    const story = await playTow(life, index, {
      ...tools,
      ordered: (ref) => refs.push(ref),
      reported: (id) => violationIds.push(id),
    });
    count += 1;
    tools.told();
    return story;
  });
  const straying = wakeForNothing({ ...stage, ...tools, seed, refs, violationIds, signal });
  // Whoever awaits it hears of a failure.
  straying.catch(() => {});
  const tooLong = pause(tools.untilMs - tools.clock.monotonicMs(), undefined, { signal }).then(() =>
    Promise.reject(new Error(`only ${count} of ${tows} tows could be told in time`)),
  );
  try {
    const [stories, havoc] = await Promise.race([
      Promise.all([
        Promise.all(living),
        wreak(scheduleOf(seed, stormMs), { ...stage, ...tools, repeatsLeast: retriesLeast(tows) }),
      ]),
      tooLong,
    ]);
    over.abort();
    return { stories, havoc, strayWakeUps: await straying };
  } finally {
    over.abort();
  }
}
