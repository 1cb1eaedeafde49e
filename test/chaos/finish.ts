import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { TowView } from '../../src/contracts/operator';
import type { Clock } from '../../src/platform/clock';
import type { PatientClient } from './client';
import type { Story } from './crew';

/** The end of a run: everything must come to rest by itself, and towhook must know that it has. */

export interface FinishTools {
  readonly client: PatientClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** When to give up, by the clock that never jumps. */
  readonly untilMs: number;
  /** Told how many tows are at rest. */
  readonly tick: (finished: number) => void;
}

const LOOK_EVERY_MS = 500;
/** Together with the other looks light enough not to slow down what is looked at. */
const LOOKS_AT_ONCE = 8;

/**
 * Looks at the tows until each one's life is over and everything it owed was settled; returns those of which this did
 * not come true before the limit, and what is wrong with those that are at rest.
 */
export async function untilFinished(
  stories: readonly Story[],
  tools: FinishTools,
): Promise<{ unfinished: string[]; problems: string[] }> {
  const open = new Map(stories.map((story) => [story.ref, story]));
  const problems: string[] = [];
  const last = new Map<string, string>();
  const lookAt = async (story: Story) => {
    const tow = await tools.client.tow(story.ref);
    if (tow) last.set(story.ref, standing(tow));
    if (!tow || !isAtRest(tow, story)) return;
    open.delete(story.ref);
    tools.tick(stories.length - open.size);
    problems.push(...wrongsOf(tow, story));
  };
  while (open.size > 0 && tools.clock.monotonicMs() < tools.untilMs) {
    const queue = [...open.values()];
    const lookOn = async () => {
      for (let story = queue.pop(); story; story = queue.pop()) await lookAt(story);
    };
    await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, lookOn));
    if (open.size > 0) await pause(LOOK_EVERY_MS, undefined, { signal: tools.signal });
  }
  return { unfinished: [...open.keys()].map((ref) => `${ref}: ${last.get(ref) ?? 'not known'}`), problems };
}

function standing(tow: TowView): string {
  const reports = tow.reports.map(({ kind, state, attempts }) => `${kind} ${state} (${attempts})`);
  return `${tow.state}; ${reports.join(', ')}; tasks: ${tow.tasks.map(({ type }) => type).join(', ') || 'none'}`;
}

function isAtRest(tow: TowView, story: Story): boolean {
  const isOver = tow.facts.length >= story.facts.length && tow.reports.length >= story.expected.length;
  return isOver && tow.reports.every(({ state }) => state === 'accepted' || state === 'waived');
}

/** What the tow says and the crew did not, or the other way round. */
function wrongsOf(tow: TowView, story: Story): string[] {
  const reports = tow.reports.map(({ kind, state }) => `${kind} ${state}`);
  const facts = tow.facts.map(({ event, occurred_at: at }) => ({
    event,
    occurredAt: event === 'invoice' ? null : at,
  }));
  const violationId = story.violation?.id ?? null;
  return [
    ...(tow.violation_id === violationId ? [] : [`${story.ref}: comes from violation ${tow.violation_id ?? 'none'}`]),
    ...(isDeepStrictEqual(facts, story.facts) ? [] : [`${story.ref}: facts ${JSON.stringify(facts)}`]),
    ...(isDeepStrictEqual(
      reports,
      story.expected.map(({ kind }) => `${kind} accepted`),
    )
      ? []
      : [`${story.ref}: reports ${reports.join(', ')}`]),
  ];
}
