import { printLine } from '../../platform/terminal';
import type { Played } from './play';

/** Prints what was found, and says whether the promise held. A run in which nothing happened does not pass. */
export function printSummary({ findings, sightings, finished, seconds }: Played, tows: number): boolean {
  const faults = [...findings.faultsPlayed].map(([fault, times]) => `${fault} x${times}`).join(', ');
  const passed =
    finished === tows &&
    findings.reportsOwed > 0 &&
    findings.reportsArrived === findings.reportsOwed &&
    findings.webhooksAcknowledged >= tows &&
    sightings.arrived === sightings.reported &&
    sightings.wrong === 0 &&
    findings.lost + findings.outOfOrder + findings.wrongBodies + findings.secondInvoices === 0;
  printLine();
  printLine('  Checked against what the service recorded');
  printLine(`    tows finished            ${finished} of ${tows} in ${seconds.toFixed(1)} s`);
  printLine(
    `    violations reported      ${sightings.reported}, arrived byte for byte ${sightings.arrived - sightings.wrong}`,
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
  printLine(passed ? '  PASSED: every report arrived, in order, exactly as it was said.' : '  FAILED');
  printLine();
  return passed;
}
