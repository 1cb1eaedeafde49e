import type { Budgets } from '../../src/workflow/service-port';

/** Any number of calls at any time. */
export const noBudgets: Budgets = { reserve: () => Promise.resolve({ granted: true, inMs: 0, lastsMs: Infinity }) };

/** What an outbox needs besides its lease and grace: nothing is given up, and nothing is counted. */
export const NO_LIMITS = { giveUpAfterMs: 3_600_000, towBudget: { limit: 0, windowMs: 60_000 } } as const;
