import { TOWS_PER_VIOLATION } from './lives';
import type { Findings } from './run';
import { FAULTS_PLAYED } from './weather';

/** The promise, figure by figure: every one of these must be zero. */
export function zeroesOf({
  reports,
  deliveries,
  violations,
  settled,
  walks,
  walk,
}: Findings): Readonly<Record<string, number>> {
  return {
    'acknowledged webhooks lost': deliveries.lost,
    'webhooks processed twice': deliveries.doubled,
    'webhooks never taken': deliveries.neverAcknowledged,
    'acknowledged violations lost': settled.lost,
    'violations taken in twice': settled.doubled,
    'lost by its own walks': walks.lost,
    'open in its last walk': walk === null ? 0 : walk.acknowledged - walk.finished,
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

/** A storm in which fewer calls were made again was none. */
export function retriesLeast(tows: number): number {
  return Math.ceil(tows / 20);
}

/** Why the run does not pass; empty when it does. A run in which too little happened does not. */
export function failuresOf(findings: Findings, tows: number): string[] {
  const { havoc, reports, finished, faults, problems } = findings;
  const atLeast = (what: string, is: number, least: number) =>
    is >= least ? [] : [`too little happened: ${what} ${is}, at least ${least} expected`];
  return [
    ...Object.entries(zeroesOf(findings)).flatMap(([what, count]) => (count === 0 ? [] : [`${what}: ${count}`])),
    ...(finished === tows ? [] : [`${finished} of ${tows} tows finished`]),
    ...problems,
    ...atLeast('kills of workers', havoc.kills.workers, 2),
    ...atLeast('kills of the receiver', havoc.kills.receiver, 1),
    ...atLeast('kills of Redis', havoc.kills.redis, 1),
    ...atLeast('freezes of workers', havoc.freezes.workers, 1),
    ...atLeast('freezes longer than a lease', havoc.longFreezes, 1),
    ...FAULTS_PLAYED.flatMap((fault) => atLeast(`fault ${fault}`, faults.get(fault) ?? 0, 1)),
    ...atLeast('retries', reports.retries, retriesLeast(tows)),
    ...atLeast('reports taken', reports.taken, Math.max(1, reports.owed)),
    ...atLeast('reports owed', reports.owed, tows * 2),
    ...atLeast('wake-ups for nothing', findings.strayWakeUps, tows),
    ...atLeast('walks seen', findings.walks.seen, 2),
    ...atLeast('webhooks processed', findings.deliveries.processed, tows),
    ...violationFailures(findings, tows, atLeast),
  ];
}

/** Of violations there are few, and of a kind of trouble fewer: in a short run dice may leave one out. */
function violationFailures(
  { violations, settled, violationFaults, violationDecisions, walk }: Findings,
  tows: number,
  atLeast: (what: string, is: number, least: number) => string[],
): string[] {
  const { posted } = violations;
  const hits = [...violationFaults.values()].reduce((total, count) => total + count, 0);
  return [
    ...atLeast('violations posted', posted, Math.floor(tows / TOWS_PER_VIOLATION)),
    ...atLeast('violations accepted', settled.accepted, posted),
    ...atLeast('violations at the service', violations.exact, posted),
    ...atLeast('images', violations.images, Math.floor(posted / 4)),
    ...atLeast('violations in its last walk', walk?.by_kind.violations.finished ?? 0, posted),
    ...atLeast('tows started from a violation', violations.startedFromViolation, Math.floor(posted / 2)),
    ...atLeast('faults of creates of violations', hits, Math.floor(posted / 10)),
    ...atLeast('creates of violations repeated', violations.repeated, Math.floor(posted / 20)),
    ...atLeast('proved by a tow request', settled.byHow.get('proved_by_tow_request') ?? 0, Math.floor(posted / 40)),
    ...atLeast('violations accepted by a person', settled.byHow.get('by_hand') ?? 0, Math.floor(posted / 400)),
    ...atLeast('workers lost over a create of a violation', settled.workersLost, Math.floor(posted / 120)),
    ...atLeast('violations decided by a person', violationDecisions.length, Math.floor(posted / 40)),
  ];
}
