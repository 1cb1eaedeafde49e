import { TOWS_PER_VIOLATION } from './tow-scenarios';
import type { DispatcherViolationDecision } from './dispatcher-violations';
import { REQUIRED_FAULTS } from './fault-plan';
import { faultsIn, repeatsIn, violationFaultsIn, type RecordedCall, type RecordedWebhook } from './record';
import type { FindingsOfRound } from './run';

/** The counts that must be zero. */
export function mustBeZero({
  reports,
  deliveries,
  violations,
  settled,
  scans,
  lastScan,
}: FindingsOfRound): Readonly<Record<string, number>> {
  return {
    'acknowledged webhooks lost': deliveries.lost,
    'webhooks processed twice': deliveries.doubled,
    'webhooks never taken': deliveries.neverAcknowledged,
    'acknowledged violations lost': settled.lost,
    'violations taken in twice': settled.doubled,
    'lost in a conservation check': scans.lost,
    'open in the last conservation check': lastScan === null ? 0 : lastScan.acknowledged - lastScan.finished,
    'reports lost': reports.missing,
    'tows out of order': reports.outOfOrder,
    'wrong bodies': reports.wrongBodies,
    'forbidden second creates': reports.forbiddenSecondCreates,
    'third creates': reports.thirdCreates,
    'violations not at the service': violations.missing,
    'violations not as posted': violations.posted - violations.exact - violations.missing,
    'wrong forms': violations.wrongForms,
    'forbidden creates of violations': violations.forbiddenCreates,
    'violations made twice': violations.madeTwice,
    'tows of the wrong violation': violations.wrongTows,
    'images left in the spool': settled.imagesLeft + settled.uploadsLeft,
  };
}

/** The fewest events of a run of so many tows that depend on how often the service failed. */
function faultsLeast(tows: number) {
  const violations = Math.floor(tows / TOWS_PER_VIOLATION);
  return {
    repeats: Math.ceil(tows / 20),
    violationFaults: Math.floor(violations / 10),
    violationsAcceptedByHand: Math.floor(violations / 400),
  };
}

/** Whether the service has to fail more often before a run of so many tows proves anything. */
export function needsMoreFaults(
  seen: {
    readonly calls: readonly RecordedCall[];
    readonly webhooks: readonly RecordedWebhook[];
    readonly violationDecisions: readonly DispatcherViolationDecision[];
  },
  tows: number,
): boolean {
  const { calls, webhooks, violationDecisions } = seen;
  const least = faultsLeast(tows);
  const occurred = faultsIn(calls, webhooks);
  return (
    REQUIRED_FAULTS.some((fault) => !occurred.has(fault)) ||
    repeatsIn(calls) < least.repeats ||
    sum(violationFaultsIn(calls)) < least.violationFaults ||
    violationDecisions.filter(({ action }) => action === 'accept').length < least.violationsAcceptedByHand
  );
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}

/** The reasons why the run fails; empty when it passes. `tows` is the requested number. */
export function failuresOf(findings: FindingsOfRound, tows: number): string[] {
  return [...brokenPromisesOf(findings), ...missingCoverageOf(findings, tows)];
}

/** Broken promises, which no further round can repair. */
export function brokenPromisesOf(findings: FindingsOfRound): string[] {
  const { played, finished, problems, reports, violations, settled, lastScan } = findings;
  const mustBe = (what: string, is: number, least: number) => (is >= least ? [] : [`${what}: ${is} of ${least}`]);
  return [
    ...Object.entries(mustBeZero(findings)).flatMap(([what, count]) => (count === 0 ? [] : [`${what}: ${count}`])),
    ...mustBe('tows finished', finished, played),
    ...problems,
    ...mustBe('reports taken', reports.taken, Math.max(1, reports.owed)),
    ...mustBe('violations accepted', settled.accepted, violations.posted),
    ...mustBe('violations at the service', violations.exact, violations.posted),
    ...mustBe(
      'violations in the last conservation check',
      lastScan?.by_kind.violations.finished ?? 0,
      violations.posted,
    ),
  ];
}

/**
 * Required events that occurred too rarely to prove anything. How often a fault occurs depends on the speed of the
 * machine, so the run plays further rounds.
 */
export function missingCoverageOf(findings: FindingsOfRound, tows: number): string[] {
  const { processFaults, reports, faults, violations, settled, violationFaults, violationDecisions } = findings;
  const seen = Math.floor(tows / TOWS_PER_VIOLATION);
  const least = faultsLeast(tows);
  const atLeast = (what: string, is: number, least: number) =>
    is >= least ? [] : [`too little happened: ${what} ${is}, at least ${least} expected`];
  return [
    ...atLeast('kills of workers', processFaults.kills.workers, 2),
    ...atLeast('kills of the receiver', processFaults.kills.receiver, 1),
    ...atLeast('kills of Redis', processFaults.kills.redis, 1),
    ...atLeast('freezes of workers', processFaults.freezes.workers, 1),
    ...atLeast('freezes longer than a lease', processFaults.longFreezes, 1),
    ...REQUIRED_FAULTS.flatMap((fault) => atLeast(`fault ${fault}`, faults.get(fault) ?? 0, 1)),
    ...atLeast('retries', reports.retries, least.repeats),
    ...atLeast('reports owed', reports.owed, tows * 2),
    ...atLeast('spurious jobs', findings.spuriousJobs, tows),
    ...atLeast('conservation checks read', findings.scans.seen, 2),
    ...atLeast('webhooks processed', findings.deliveries.processed, tows),
    ...atLeast('violations posted', violations.posted, seen),
    ...atLeast('images', violations.images, Math.floor(seen / 4)),
    ...atLeast('tows started from a violation', violations.startedFromViolation, Math.floor(seen / 2)),
    ...atLeast('faults of creates of violations', sum(violationFaults), least.violationFaults),
    ...atLeast('creates of violations repeated', violations.repeated, Math.floor(seen / 20)),
    ...atLeast('proved by a tow request', settled.byHow.get('proved_by_tow_request') ?? 0, Math.floor(seen / 40)),
    ...atLeast('violations accepted by hand', settled.byHow.get('by_hand') ?? 0, least.violationsAcceptedByHand),
    ...atLeast('workers lost over a create of a violation', settled.workersLost, Math.floor(seen / 120)),
    ...atLeast('violations decided by hand', violationDecisions.length, Math.floor(seen / 40)),
  ];
}
