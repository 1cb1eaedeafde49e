import type { ViolationState as State } from '../../domain/vocabulary';
import type { Viewer } from '../viewer';
import { Badge, type Tone } from './text';

/** What of a violation tells how it stands; its record does. */
export interface ViolationStanding {
  readonly state: State;
  readonly attempts: number;
  readonly inFlight: boolean;
  /** Null where nothing happens before somebody decides. */
  readonly nextAttemptAtMs: number | null;
}

/** How a violation stands with the service, in a word. */
export function ViolationState({ viewer, standing }: { viewer: Viewer; standing: ViolationStanding }) {
  return <Badge tone={toneOf(standing)}>{wordOf(viewer, standing)}</Badge>;
}

function wordOf({ words }: Viewer, standing: ViolationStanding): string {
  const { state, attempts, inFlight } = standing;
  if (state !== 'pending') return words.terms.violationStates[state];
  if (inFlight) return words.terms.violationStates.sending;
  if (isGivenUp(standing)) return words.violations.givenUp;
  return attempts > 0 ? words.common.tryingAgain : words.terms.violationStates.pending;
}

function toneOf(standing: ViolationStanding): Tone {
  const { state, attempts, inFlight } = standing;
  switch (state) {
    case 'accepted':
      return 'good';
    case 'sending':
      return 'busy';
    case 'pending':
      if (inFlight) return 'busy';
      if (isGivenUp(standing)) return 'bad';
      return attempts > 0 ? 'wait' : 'busy';
    case 'held':
    case 'refused':
    case 'unknown':
      return 'bad';
    case 'waived':
      return 'quiet';
  }
}

/** It kept failing for as long as the configuration allows, and is not tried any more. */
export function isGivenUp({ state, inFlight, nextAttemptAtMs }: ViolationStanding): boolean {
  return state === 'pending' && !inFlight && nextAttemptAtMs === null;
}
