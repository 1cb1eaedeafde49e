import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../src/platform/clock';
import { errorCode } from '../../src/platform/errors';
import type { RetryingClient, CheckedViolation } from './client';
import type { CrewViolation } from './report-violation';

/** The state of the violations that towhook acknowledged, by its API and on its disk. */
export interface SettledFindings {
  readonly acknowledged: number;
  readonly accepted: number;
  /** Acknowledged violations that were not accepted in the end. */
  readonly lost: number;
  /** Violations that no patrol reported: one report was stored twice. */
  readonly doubled: number;
  readonly byHow: ReadonlyMap<string, number>;
  /** Creates whose worker was killed or frozen. */
  readonly workersLost: number;
  /** Image folders of violations that the service has. */
  readonly imagesLeft: number;
  /** Folders of uploads that have ended. */
  readonly uploadsLeft: number;
  /** Image folders whose violation could not be stored; they are swept after a day. */
  readonly orphans: number;
  readonly problems: readonly string[];
}

export interface SettledTools {
  readonly client: RetryingClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** When to give up, on the monotonic clock. */
  readonly untilMs: number;
  /** DATA_DIR of all roles. */
  readonly folder: string;
}

const LOOK_EVERY_MS = 500;

/** Reads the violations until all are settled and their images dropped, or until the limit. */
export async function untilSettled(reported: readonly CrewViolation[], tools: SettledTools): Promise<SettledFindings> {
  for (;;) {
    const findings = await lookAt(reported, tools);
    const isSettled = findings.lost + findings.imagesLeft + findings.uploadsLeft === 0;
    if (isSettled || tools.clock.monotonicMs() >= tools.untilMs) return findings;
    await pause(LOOK_EVERY_MS, undefined, { signal: tools.signal });
  }
}

async function lookAt(reported: readonly CrewViolation[], tools: SettledTools): Promise<SettledFindings> {
  const known = new Map((await tools.client.violations()).map((violation) => [violation.id, violation]));
  const ids = new Set(reported.map(({ id }) => id));
  const isAccepted = (violation: CheckedViolation | undefined) =>
    violation?.state === 'accepted' && !violation.in_flight && violation.towing_reference_ids.length > 0;
  const open = reported.filter(({ id }) => !isAccepted(known.get(id)));
  const unreported = [...known.keys()].filter((id) => !ids.has(id));
  const left = await namesIn(join(tools.folder, 'spool', 'violations'));
  const imagesLeft = left.filter((id) => known.has(id));
  const uploadsLeft = await namesIn(join(tools.folder, 'spool', 'incoming'));
  const byHow = new Map<string, number>();
  for (const { accepted_how: how } of known.values()) byHow.set(how ?? '', (byHow.get(how ?? '') ?? 0) + 1);
  return {
    acknowledged: reported.length,
    accepted: reported.length - open.length,
    lost: open.length,
    doubled: unreported.length,
    byHow,
    workersLost: [...known.values()].flatMap(({ log }) => log).filter(({ outcome }) => outcome === 'worker_lost')
      .length,
    imagesLeft: imagesLeft.length,
    uploadsLeft: uploadsLeft.length,
    orphans: left.length - imagesLeft.length,
    problems: [
      ...open.map(({ id }) => `violation ${id}: ${statusOf(known.get(id))}`),
      ...unreported.map((id) => `violation ${id} was stored and no patrol reported it`),
      ...imagesLeft.map((id) => `violation ${id}: its images are still in the spool`),
    ],
  };
}

function statusOf(violation: CheckedViolation | undefined): string {
  if (!violation) return 'not known';
  const { state, in_flight: inFlight, towing_reference_ids: tows } = violation;
  return `${state}${inFlight ? ', in flight' : ''}; tows: ${tows.join(', ') || 'none'}`;
}

/** Without the files with which processes try the disk: a killed one leaves its file, which is swept after an hour. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => !name.startsWith('probe.'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
