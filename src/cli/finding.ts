import { paint, type OutputLine } from './terminal';

/** The result of one check of an installation or of a backup. */
export interface Finding {
  /** What was checked: `redis`, `service`, … */
  readonly check: string;
  /** `skipped`: could not be checked, because of another finding or a missing setting. */
  readonly state: 'fine' | 'warning' | 'fault' | 'skipped';
  /** Stable snake_case code. */
  readonly code: string;
  /** Text for people. Never contains a secret. */
  readonly what: string;
  /** What to do; null when there is nothing to do. */
  readonly fix: string | null;
}

/** Creates findings of one check. */
export interface Notes {
  fine(code: string, what: string): Finding;
  warning(code: string, what: string, fix: string): Finding;
  fault(code: string, what: string, fix: string): Finding;
  skipped(code: string, what: string): Finding;
}

export function notesOf(check: string): Notes {
  return {
    fine: (code, what) => ({ check, state: 'fine', code, what, fix: null }),
    warning: (code, what, fix) => ({ check, state: 'warning', code, what, fix }),
    fault: (code, what, fix) => ({ check, state: 'fault', code, what, fix }),
    skipped: (code, what) => ({ check, state: 'skipped', code, what, fix: null }),
  };
}

export function sumOfFindings(findings: readonly Finding[]): { readonly faults: number; readonly warnings: number } {
  return {
    faults: findings.filter(({ state }) => state === 'fault').length,
    warnings: findings.filter(({ state }) => state === 'warning').length,
  };
}

/** Findings as lines of text, with their sum at the end. */
export function findingLines(findings: readonly Finding[]): OutputLine[] {
  const { faults, warnings } = sumOfFindings(findings);
  const width = Math.max(0, ...findings.map(({ check }) => check.length));
  return [
    ...findings.flatMap(({ check, state, what, fix }) => [
      [paint(COLORS[state], state.padEnd(7)), `  ${check.padEnd(width)}  ${what}`],
      ...(fix === null ? [] : [[' '.repeat(width + 11), paint('bold', 'fix:'), ` ${fix}`]]),
    ]),
    '',
    `${faults === 0 ? 'No faults' : counted(faults, 'fault')}, ${counted(warnings, 'warning')}.`,
  ];
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

const COLORS = { fine: 'green', warning: 'yellow', fault: 'red', skipped: 'yellow' } as const;
