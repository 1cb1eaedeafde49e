import { REPORT_KINDS } from '../../src/domain/vocabulary';
import type { Story } from './crew';
import { grouped } from './grouped';
import { judgeCalls, type CallFindings } from './judge-calls';
import { judgeViolations, type ViolationFindings } from './judge-violations';
import type { PersonDecision } from './person';
import type { ViolationDecision } from './person-violations';
import { CALLS_MAX, faultsIn, refOf, type Call, type HeldViolation, type Order, type Webhook } from './record';

/** What the service saw and what a person decided in a whole run. */
export interface Seen {
  readonly calls: readonly Call[];
  readonly webhooks: readonly Webhook[];
  readonly violations: readonly HeldViolation[];
  readonly orders: readonly Order[];
  readonly decisions: readonly PersonDecision[];
  readonly violationDecisions: readonly ViolationDecision[];
}

export interface Judged {
  readonly faults: ReadonlyMap<string, number>;
  /** Those that hit creates of violations. */
  readonly violationFaults: ReadonlyMap<string, number>;
  readonly calls: number;
  readonly reports: Omit<CallFindings, 'problems'>;
  readonly violations: Omit<ViolationFindings, 'problems'>;
  readonly problems: readonly string[];
}

/** Holds everything the service recorded against everything the crew said. */
export function judge(stories: readonly Story[], seen: Seen): Judged {
  const { calls, webhooks, decisions } = seen;
  const callsByTow = grouped(calls, refOf);
  const invoices = webhooks.filter(({ kind }) => kind === 'tow_invoice');
  const invoicesByTow = grouped(invoices, ({ towing_reference_id: ref }) => ref);
  const decisionsByTow = grouped(decisions, ({ ref }) => ref);
  const findings = stories.map((story) =>
    judgeCalls(story, {
      calls: callsByTow.get(story.ref) ?? [],
      invoices: invoicesByTow.get(story.ref) ?? [],
      decisions: decisionsByTow.get(story.ref) ?? [],
    }),
  );
  const { problems, ...violations } = judgeViolations(stories, {
    calls,
    held: seen.violations,
    orders: seen.orders,
    decisions: seen.violationDecisions,
  });
  const sum = (pick: (one: CallFindings) => number) => findings.reduce((total, one) => total + pick(one), 0);
  return {
    faults: faultsIn(calls, webhooks),
    violationFaults: faultsIn(
      calls.filter(({ operation }) => operation === 'violation'),
      [],
    ),
    calls: calls.length,
    reports: {
      owed: sum(({ owed }) => owed),
      missing: sum(({ missing }) => missing),
      taken: sum(({ taken }) => taken),
      repeated: sum(({ repeated }) => repeated),
      retries: sum(({ retries }) => retries),
      readLate: sum(({ readLate }) => readLate),
      outOfOrder: sum(({ outOfOrder }) => outOfOrder),
      wrongBodies: sum(({ wrongBodies }) => wrongBodies),
      forbiddenSecondCreates: sum(({ forbiddenSecondCreates }) => forbiddenSecondCreates),
      thirdCreates: sum(({ thirdCreates }) => thirdCreates),
    },
    violations,
    problems: [
      ...(calls.length >= CALLS_MAX ? ['the service forgot calls: too many for one run'] : []),
      ...findings.flatMap(({ problems: each }) => each),
      ...problems,
      ...strays(calls, new Set(stories.map(({ ref }) => ref))),
    ],
  };
}

/** Reports about no tow of the run. One whose sender was killed in the middle of its body may be about none. */
function strays(calls: readonly Call[], refs: ReadonlySet<string>): string[] {
  return calls
    .filter(({ operation }) => REPORT_KINDS.some((kind) => kind === operation))
    .filter((call) => !refs.has(refOf(call)))
    .filter(({ body, status, effect }) => body !== null || status !== null || effect)
    .map(({ operation, at, body }) => `a call about nobody's tow: ${operation} at ${at}: ${JSON.stringify(body)}`);
}
