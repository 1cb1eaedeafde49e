import { printLine } from '../platform/terminal';
import type { DemoResult } from './play';

/** Prints the result and returns whether it is as promised. A run without reports does not pass. */
export function printSummary({ findings, violations, finished, seconds }: DemoResult, tows: number): boolean {
  const faults = [...findings.faultsInjected].map(([fault, times]) => `${fault} x${times}`).join(', ');
  const passed =
    finished === tows &&
    findings.reportsOwed > 0 &&
    findings.reportsArrived === findings.reportsOwed &&
    findings.webhooksAcknowledged >= tows &&
    violations.arrived === violations.reported &&
    violations.wrong === 0 &&
    findings.lost + findings.outOfOrder + findings.wrongBodies + findings.secondInvoices === 0;
  printLine();
  printLine('  Checked against what the service recorded');
  printLine(`    tows finished            ${finished} of ${tows} in ${seconds.toFixed(1)} s`);
  printLine(
    `    violations reported      ${violations.reported}, arrived byte for byte ${violations.arrived - violations.wrong}`,
  );
  printLine(`    webhooks acknowledged    ${findings.webhooksAcknowledged}`);
  printLine(
    `    reports arrived          ${findings.reportsArrived} of ${findings.reportsOwed}, in ${findings.callsMade} calls`,
  );
  printLine(`    faults played            ${faults || 'none'}`);
  printLine(`    lost                     ${findings.lost}`);
  printLine(`    out of order             ${findings.outOfOrder}`);
  printLine(`    wrong bodies             ${findings.wrongBodies}`);
  printLine(`    second invoices          ${findings.secondInvoices}`);
  printLine(`    taken twice              ${findings.repeated} (their first answer was lost; safe to repeat)`);
  for (const problem of findings.problems.slice(0, 20)) printLine(`    ! ${problem}`);
  printLine();
  printLine(passed ? '  PASSED: every report arrived, in order, exactly as it was recorded.' : '  FAILED');
  printLine();
  return passed;
}
