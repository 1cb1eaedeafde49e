import type { ConservationView } from '../../src/contracts/conservation';
import type { Story } from './crew';
import { untilDelivered, type DeliveryFindings, type DeliveryTools } from './deliveries';
import { untilFinished, type FinishTools } from './finish';
import { untilSettled, type SettledFindings, type SettledTools } from './settled';
import type { Walks } from './walks';

/** What became of everything once it was left in peace. */
export interface Rest {
  readonly finished: number;
  readonly deliveries: DeliveryFindings;
  readonly settled: SettledFindings;
  /** Towhook's own walk over everything acknowledged, begun after all this; null when there was none in time. */
  readonly walk: ConservationView | null;
  readonly problems: readonly string[];
}

/** Waits until every tow, every violation, every webhook and towhook's own walk have come to their end, or the limit is reached. */
export async function restOf(
  stories: readonly Story[],
  tools: FinishTools & DeliveryTools & SettledTools & { readonly walks: Walks },
): Promise<Rest> {
  const { walks } = tools;
  const { unfinished, problems } = await untilFinished(stories, tools);
  const settled = await untilSettled(
    stories.flatMap(({ violation }) => violation ?? []),
    tools,
  );
  const deliveries = await untilDelivered(tools);
  const walk = await walks.next();
  return {
    finished: stories.length - unfinished.length,
    deliveries,
    settled,
    walk,
    problems: [
      ...stories.flatMap(({ ref, refusals }) => refusals.map((refusal) => `${ref}: ${refusal}`)),
      ...unfinished,
      ...problems,
      ...settled.problems,
      ...[...walks.lostNames].map((name) => `a walk found lost: ${name}`),
      ...(walk === null ? ['no walk over everything acknowledged began after the end'] : []),
    ],
  };
}
