import type { ConservationView } from '../../src/contracts/ops/conservation';
import type { PlayedTow } from './field-crew';
import { untilDelivered, type DeliveryFindings, type DeliveryTools } from './deliveries';
import { untilFinished, type FinishTools } from './finish';
import { untilSettled, type SettledFindings, type SettledTools } from './settled';
import type { ConservationScans } from './conservation-scans';

/** The state after all faults have ended. */
export interface FinalState {
  readonly finished: number;
  readonly deliveries: DeliveryFindings;
  readonly settled: SettledFindings;
  /** The conservation check that began after all this; null when none ended in time. */
  readonly lastScan: ConservationView | null;
  readonly problems: readonly string[];
}

/** Waits until every tow, violation and webhook is finished and a conservation check has ended, or until the limit. */
export async function awaitFinalState(
  playedTows: readonly PlayedTow[],
  tools: FinishTools & DeliveryTools & SettledTools & { readonly scans: ConservationScans },
): Promise<FinalState> {
  const { scans } = tools;
  const { unfinished, problems } = await untilFinished(playedTows, tools);
  const settled = await untilSettled(
    playedTows.flatMap(({ violation }) => violation ?? []),
    tools,
  );
  const deliveries = await untilDelivered(tools);
  const lastScan = await scans.next();
  return {
    finished: playedTows.length - unfinished.length,
    deliveries,
    settled,
    lastScan,
    problems: [
      ...playedTows.flatMap(({ ref, refusals }) => refusals.map((refusal) => `${ref}: ${refusal}`)),
      ...unfinished,
      ...problems,
      ...settled.problems,
      ...[...scans.lostNames].map((name) => `a conservation check found lost: ${name}`),
      ...(lastScan === null ? ['no conservation check began after the end'] : []),
    ],
  };
}
