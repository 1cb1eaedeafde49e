import { REPORT_KINDS } from '../../src/domain/vocabulary';
import type { PlayedTow } from './field-crew';
import { grouped } from './grouped';
import { judgeCalls, type CallFindings } from './judge-calls';
import { judgeViolations, type ViolationJudgement } from './judge-violations';
import type { ReportDecision } from './dispatcher';
import type { DispatcherViolationDecision } from './dispatcher-violations';
import {
  CALLS_MAX,
  faultsIn,
  violationFaultsIn,
  refOf,
  type RecordedCall,
  type ServiceViolation,
  type OrderedTow,
  type RecordedWebhook,
} from './record';

/** The record of the service and the decisions of the dispatcher in a whole run. */
export interface ServiceObservations {
  readonly calls: readonly RecordedCall[];
  readonly webhooks: readonly RecordedWebhook[];
  readonly violations: readonly ServiceViolation[];
  readonly orders: readonly OrderedTow[];
  readonly decisions: readonly ReportDecision[];
  readonly violationDecisions: readonly DispatcherViolationDecision[];
}

export interface Judgement {
  readonly faults: ReadonlyMap<string, number>;
  /** Faults of creates of violations. */
  readonly violationFaults: ReadonlyMap<string, number>;
  readonly calls: number;
  readonly reports: Omit<CallFindings, 'problems'>;
  readonly violations: Omit<ViolationJudgement, 'problems'>;
  readonly problems: readonly string[];
}

/** Compares everything the service recorded with everything the crew recorded. */
export function judge(playedTows: readonly PlayedTow[], seen: ServiceObservations): Judgement {
  const { calls, webhooks, decisions } = seen;
  const callsByTow = grouped(calls, refOf);
  const invoices = webhooks.filter(({ kind }) => kind === 'tow_invoice');
  const invoicesByTow = grouped(invoices, ({ towing_reference_id: ref }) => ref);
  const decisionsByTow = grouped(decisions, ({ ref }) => ref);
  const findings = playedTows.map((played) =>
    judgeCalls(played, {
      calls: callsByTow.get(played.ref) ?? [],
      invoices: invoicesByTow.get(played.ref) ?? [],
      decisions: decisionsByTow.get(played.ref) ?? [],
    }),
  );
  const { problems, ...violations } = judgeViolations(playedTows, {
    calls,
    stored: seen.violations,
    orders: seen.orders,
    decisions: seen.violationDecisions,
  });
  const sum = (pick: (one: CallFindings) => number) => findings.reduce((total, one) => total + pick(one), 0);
  return {
    faults: faultsIn(calls, webhooks),
    violationFaults: violationFaultsIn(calls),
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
      ...unknownCreates(calls, new Set(playedTows.map(({ ref }) => ref))),
    ],
  };
}

/** Reports about no tow of the run. A call whose sender was killed inside its body may have no tow. */
function unknownCreates(calls: readonly RecordedCall[], refs: ReadonlySet<string>): string[] {
  return calls
    .filter(({ operation }) => REPORT_KINDS.some((kind) => kind === operation))
    .filter((call) => !refs.has(refOf(call)))
    .filter(({ body, status, effect }) => body !== null || status !== null || effect)
    .map(({ operation, at, body }) => `a call about an unknown tow: ${operation} at ${at}: ${JSON.stringify(body)}`);
}
