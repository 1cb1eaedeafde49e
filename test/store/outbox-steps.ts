import * as fc from 'fast-check';
import { OUTCOMES, type Outcome } from './outbox-model';

/** What may happen to the outbox of a tow; `pick` chooses among attempts, newest first, or reports, oldest first. */
export type Step =
  | { readonly do: 'say' | 'webhook' }
  | { readonly do: 'claim'; readonly isLost: boolean }
  | { readonly do: 'settle'; readonly pick: number; readonly outcome: Outcome }
  | { readonly do: 'decide'; readonly pick: number; readonly action: 'retry' | 'accept' | 'waive' };

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant<Step>({ do: 'say' }) },
    { weight: 1, arbitrary: fc.constant<Step>({ do: 'webhook' }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('claim' as const), isLost: fc.boolean() }) },
    {
      weight: 6,
      // Mostly the newest attempt, sometimes a superseded one.
      arbitrary: fc.record({
        do: fc.constant('settle' as const),
        pick: fc.constantFrom(0, 0, 0, 1, 2),
        outcome: fc.constantFrom(...OUTCOMES, 'accepted' as const, 'unanswered' as const),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('decide' as const),
        pick: fc.nat({ max: 4 }),
        action: fc.constantFrom('retry' as const, 'retry' as const, 'accept' as const, 'waive' as const),
      }),
    },
  ),
  { minLength: 10, maxLength: 40 },
);
