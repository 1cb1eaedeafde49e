import * as fc from 'fast-check';
import { DECISIONS, FACTS, OUTCOMES, type CoreOperation } from './operations';

/** What happens in a story; `pick` chooses among what is there when its round begins, newest first. */
export type RoundStep = { readonly process: 0 | 1 } & (
  | { readonly do: 'say'; readonly event: (typeof FACTS)[number] }
  | { readonly do: 'decide'; readonly pick: number; readonly action: (typeof DECISIONS)[number] }
  | { readonly do: 'receive' }
  | { readonly do: 'attach'; readonly pick: number }
  | { readonly do: 'claim'; readonly isLost: boolean }
  | {
      readonly do: 'settle';
      readonly pick: number;
      readonly outcome: (typeof OUTCOMES)[number];
      readonly goesOn: boolean;
    }
);

/** Steps of a round are taken at the same time. After some rounds the lease of the tow is over. */
export interface Round {
  readonly steps: readonly RoundStep[];
  readonly endsLease: boolean;
}

const inProcess = { process: fc.constantFrom(0 as const, 1 as const) };
/** Mostly the newest. */
const pick = fc.constantFrom(0, 0, 0, 0, 1, 2);

const step: fc.Arbitrary<RoundStep> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      ...inProcess,
      do: fc.constant('say' as const),
      event: fc.constantFrom(...FACTS.slice(0, 4)),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ ...inProcess, do: fc.constant('say' as const), event: fc.constant('canceled' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ ...inProcess, do: fc.constant('receive' as const) }) },
  { weight: 1, arbitrary: fc.record({ ...inProcess, do: fc.constant('attach' as const), pick }) },
  {
    weight: 6,
    arbitrary: fc.record({
      ...inProcess,
      do: fc.constant('claim' as const),
      isLost: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      ...inProcess,
      do: fc.constant('settle' as const),
      pick,
      outcome: fc.constantFrom(...OUTCOMES, 'accepted' as const, 'unknown' as const),
      goesOn: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...inProcess,
      do: fc.constant('decide' as const),
      pick: fc.nat({ max: 4 }),
      action: fc.constantFrom(...DECISIONS, 'retry' as const),
    }),
  },
);

export const story: fc.Arbitrary<Round[]> = fc.array(
  fc.record({
    steps: fc.array(step, { minLength: 1, maxLength: 3 }),
    endsLease: fc.constantFrom(false, false, false, true),
  }),
  { minLength: 10, maxLength: 30 },
);

const claim = (process: 0 | 1, isLost = false): RoundStep => ({ process, do: 'claim', isLost });
const settle = (outcome: (typeof OUTCOMES)[number], choice: { pick?: number; goesOn?: boolean } = {}): RoundStep => ({
  process: 0,
  do: 'settle',
  pick: 0,
  goesOn: false,
  outcome,
  ...choice,
});
const oneByOne = (steps: readonly RoundStep[]): Round[] => steps.map((step) => ({ steps: [step], endsLease: false }));
const createUnknownOnce: readonly RoundStep[] = [
  claim(0),
  settle('accepted'),
  { process: 1, do: 'say', event: 'invoice' },
  claim(1),
  settle('unknown'),
  claim(0),
];

/** Stories whose ends random stories reach too seldom to rely on. */
export const RARE_STORIES: readonly Round[][] = [
  // A create that stays unknown twice waits for a person, which the next claim finds,
  oneByOne([...createUnknownOnce, settle('unknown'), claim(1)]),
  // or the claim in the commit of the second answer.
  oneByOne([...createUnknownOnce, settle('unknown', { goesOn: true })]),
  // The worker that lost its lease is answered after the attempt that followed ended without an answer.
  oneByOne([claim(0, true), claim(1), settle('unknown'), settle('accepted', { pick: 1 })]),
  // A report whose worker was lost twice waits.
  oneByOne([claim(0, true), claim(1, true), claim(0)]),
  // The create of before a correction turns out to be accepted.
  oneByOne([
    claim(0),
    settle('accepted'),
    { process: 1, do: 'say', event: 'invoice' },
    claim(0, true),
    claim(0),
    settle('refused'),
    { process: 1, do: 'decide', pick: 0, action: 'correct' },
    settle('accepted', { pick: 1 }),
  ]),
];

/** An operation, and the process that does it. */
export interface RoundTask {
  readonly process: 0 | 1;
  readonly operation: CoreOperation;
}

/** What the picks of a round choose among. */
export interface Choice {
  readonly ref: string;
  readonly reportIds: readonly string[];
  /** Webhooks that were stored. */
  readonly webhooks: readonly string[];
  /** Attempts, each with its process. */
  readonly attempts: readonly { readonly process: 0 | 1; readonly attemptId: string }[];
  readonly newWebhookId: () => string;
}

/** A round as operations. A step that has nothing to choose is left out, and so is a second one with the same attempt. */
export function tasksOf({ steps }: Round, choice: Choice): RoundTask[] {
  const settled = new Set<string>();
  return steps.flatMap((step): RoundTask[] => {
    const { process } = step;
    const { ref } = choice;
    switch (step.do) {
      case 'say':
        return [{ process, operation: { do: 'say', ref, event: step.event } }];
      case 'claim':
        return [{ process, operation: { do: 'claim', ref, isLost: step.isLost } }];
      case 'receive':
        return [{ process, operation: { do: 'receive', ref, id: choice.newWebhookId() } }];
      case 'attach': {
        const id = choice.webhooks.at(-1 - step.pick);
        return id === undefined ? [] : [{ process, operation: { do: 'attach', ref, id } }];
      }
      case 'decide': {
        const reportId = choice.reportIds.at(-1 - step.pick);
        return reportId === undefined
          ? []
          : [{ process, operation: { do: 'decide', ref, reportId, action: step.action } }];
      }
      case 'settle': {
        const attempt = choice.attempts.at(-1 - step.pick);
        if (!attempt || settled.has(attempt.attemptId)) return [];
        settled.add(attempt.attemptId);
        const { attemptId } = attempt;
        const { outcome, goesOn } = step;
        return [{ process: attempt.process, operation: { do: 'settle', ref, attemptId, outcome, goesOn } }];
      }
    }
  });
}
