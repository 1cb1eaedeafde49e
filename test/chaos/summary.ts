import { printLine } from '../../src/platform/terminal';
import type { ChaosFindings } from './run';
import { failuresOf, mustBeZero } from './verdict';

const PROBLEMS_SHOWN = 20;

/** Prints the results; returns whether the run passed. */
export function printSummary(findings: ChaosFindings, options: { seed: number; tows: number }): boolean {
  const { processFaults, reports, deliveries, decisions, faults } = findings;
  const failures = failuresOf(findings, options.tows);
  const line = (what: string, value: string | number) => printLine(`  ${what.padEnd(32)} ${value}`);
  printLine();
  line('tows finished', `${findings.finished} of ${findings.played} in ${findings.seconds.toFixed(1)} s`);
  line('rounds', findings.rounds);
  line('kills with -9', counts(Object.entries(processFaults.kills)));
  line(
    'freezes',
    `${counts(Object.entries(processFaults.freezes))} (${processFaults.longFreezes} longer than a lease)`,
  );
  line('faults of the service', counts(faults));
  line('spurious jobs', findings.spuriousJobs);
  line('calls', findings.calls);
  line('reports taken', `${reports.taken} of ${reports.owed}`);
  line('retries', reports.retries);
  line('reports taken again', `${reports.repeated} (at least once is the promise)`);
  line('calls read too late', `${reports.readLate} (their sender had hung up)`);
  line('webhooks processed', `${deliveries.processed} of ${deliveries.acknowledged} acknowledged`);
  line('asked again by the crew', counts(findings.repeatedPosts));
  const { violations, settled, violationDecisions, lastScan } = findings;
  line('violations', `${settled.accepted} accepted of ${violations.posted} posted, with ${violations.images} images`);
  line('faults of their creates', counts(findings.violationFaults));
  line('creates repeated', violations.repeated);
  line('workers lost over a create', settled.workersLost);
  line('accepted how', counts(settled.byHow));
  line('violations decided', decided(violationDecisions));
  line('tows started from them', violations.startedFromViolation);
  line('images without a violation', `${settled.orphans} (their violation could not be stored; swept after a day)`);
  line('tasks seen', counts(findings.tasksSeen));
  line('decisions of the dispatcher', decided(decisions));
  line('conservation checks read', findings.scans.seen);
  if (lastScan)
    line(
      'last conservation check',
      counts(Object.entries(lastScan.by_kind).map(([kind, { finished }]) => [kind, finished])),
    );
  printLine();
  for (const [what, count] of Object.entries(mustBeZero(findings))) line(what, count);
  printLine();
  for (const failure of failures.slice(0, PROBLEMS_SHOWN)) printLine(`  ! ${failure}`);
  if (failures.length > PROBLEMS_SHOWN) printLine(`  ! and ${failures.length - PROBLEMS_SHOWN} more`);
  if (failures.length > 0) printLine(`\n  The logs are in ${findings.folder}`);
  printLine(
    failures.length === 0
      ? '  PASSED'
      : `  FAILED; npm run chaos -- --seed ${options.seed} --tows ${options.tows} repeats its schedule`,
  );
  return failures.length === 0;
}

function counts(entries: Iterable<readonly [string, number]>): string {
  const shown = [...entries].toSorted(([a], [b]) => a.localeCompare(b)).map(([what, count]) => `${what} ${count}`);
  return shown.join(', ') || 'none';
}

function decided(decisions: readonly { readonly action: 'accept' | 'retry' }[]): string {
  const accepted = decisions.filter(({ action }) => action === 'accept').length;
  return `${accepted} accepted, ${decisions.length - accepted} sent again`;
}
