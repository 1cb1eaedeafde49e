import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { TowView } from '../../src/contracts/operator';
import type { Clock } from '../../src/platform/clock';
import type { RetryingClient } from './client';
import type { PlayedTow } from './field-crew';

export interface FinishTools {
  readonly client: RetryingClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** When to give up, on the monotonic clock. */
  readonly untilMs: number;
  /** Called with the number of finished tows. */
  readonly tick: (finished: number) => void;
}

const LOOK_EVERY_MS = 500;
/** Few enough not to slow down the roles. */
const LOOKS_AT_ONCE = 8;

/**
 * Reads the tows until each is finished and all its reports are settled, or until the limit. Returns the unfinished
 * tows, and the differences of the finished ones.
 */
export async function untilFinished(
  playedTows: readonly PlayedTow[],
  tools: FinishTools,
): Promise<{ unfinished: string[]; problems: string[] }> {
  const open = new Map(playedTows.map((played) => [played.ref, played]));
  const problems: string[] = [];
  const last = new Map<string, string>();
  const lookAt = async (played: PlayedTow) => {
    const tow = await tools.client.tow(played.ref);
    if (tow) last.set(played.ref, statusOf(tow));
    if (!tow || !isFinished(tow, played)) return;
    open.delete(played.ref);
    tools.tick(playedTows.length - open.size);
    problems.push(...differencesOf(tow, played));
  };
  while (open.size > 0 && tools.clock.monotonicMs() < tools.untilMs) {
    const queue = [...open.values()];
    const lookOn = async () => {
      for (let played = queue.pop(); played; played = queue.pop()) await lookAt(played);
    };
    await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, lookOn));
    if (open.size > 0) await pause(LOOK_EVERY_MS, undefined, { signal: tools.signal });
  }
  return { unfinished: [...open.keys()].map((ref) => `${ref}: ${last.get(ref) ?? 'not known'}`), problems };
}

function statusOf(tow: TowView): string {
  const reports = tow.reports.map(({ kind, state, attempts }) => `${kind} ${state} (${attempts})`);
  return `${tow.state}; ${reports.join(', ')}; tasks: ${tow.tasks.map(({ type }) => type).join(', ') || 'none'}`;
}

function isFinished(tow: TowView, played: PlayedTow): boolean {
  const isOver = tow.facts.length >= played.facts.length && tow.reports.length >= played.expected.length;
  return isOver && tow.reports.every(({ state }) => state === 'accepted' || state === 'waived');
}

/** Differences between the tow and what the crew recorded. */
function differencesOf(tow: TowView, played: PlayedTow): string[] {
  const reports = tow.reports.map(({ kind, state }) => `${kind} ${state}`);
  const facts = tow.facts.map(({ event, occurred_at: at }) => ({
    event,
    occurredAt: event === 'invoice' ? null : at,
  }));
  const violationId = played.violation?.id ?? null;
  return [
    ...(tow.violation_id === violationId ? [] : [`${played.ref}: comes from violation ${tow.violation_id ?? 'none'}`]),
    ...(isDeepStrictEqual(facts, played.facts) ? [] : [`${played.ref}: facts ${JSON.stringify(facts)}`]),
    ...(isDeepStrictEqual(
      reports,
      played.expected.map(({ kind }) => `${kind} accepted`),
    )
      ? []
      : [`${played.ref}: reports ${reports.join(', ')}`]),
  ];
}
