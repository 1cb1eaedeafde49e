import type { Findings } from './run';
import { FAULTS_PLAYED } from './weather';

/** The promise, figure by figure: every one of these must be zero. */
export function zeroesOf({ reports, deliveries, walks }: Findings): Readonly<Record<string, number>> {
  return {
    'acknowledged webhooks lost': deliveries.lost,
    'webhooks processed twice': deliveries.doubled,
    'webhooks never taken': deliveries.neverAcknowledged,
    'lost by its own walks': walks.lost,
    'reports lost': reports.missing,
    'tows out of order': reports.outOfOrder,
    'wrong bodies': reports.wrongBodies,
    'forbidden second creates': reports.forbiddenSecondCreates,
    'third creates': reports.thirdCreates,
  };
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
    ...atLeast('retries', reports.retries, tows / 20),
    ...atLeast('reports taken', reports.taken, Math.max(1, reports.owed)),
    ...atLeast('reports owed', reports.owed, tows * 2),
    ...atLeast('wake-ups for nothing', findings.strayWakeUps, tows),
    ...atLeast('walks seen', findings.walks.seen, 2),
    ...atLeast('webhooks processed', findings.deliveries.processed, tows),
  ];
}
