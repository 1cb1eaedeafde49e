import type { Command } from 'commander';
import { EXIT } from './exit-codes';
import { paint } from './screen';
import { addVerb, option, type Shown, type Tools } from './verb';

/** One thing that `towhook doctor` looked at. */
export interface Finding {
  /** What was looked at: `redis`, `service`, … */
  readonly check: string;
  /** `skipped`: could not be looked at, because of another finding or for lack of a setting. */
  readonly state: 'fine' | 'warning' | 'fault' | 'skipped';
  /** One word for what was found. */
  readonly code: string;
  /** In words; never a secret. */
  readonly what: string;
  /** What to do about it. */
  readonly fix: string | null;
}

export interface DoctorOptions {
  /** Where the service reaches the receiver from outside; null looks at the receiver of this machine. */
  readonly webhookUrl: string | null;
  /** Makes DATA_DIR the disk in use, instead of the one that was. */
  readonly adoptsDisk: boolean;
}

export type Doctor = (options: DoctorOptions) => Promise<readonly Finding[]>;

/** `towhook doctor`: looks at the whole set-up and says what is wrong and what to fix. */
export function addDoctor(program: Command, { tools, doctor }: { tools: Tools; doctor: Doctor }): void {
  const command = addVerb(program, tools, {
    usage: 'doctor',
    summary: 'check the whole set-up and say what to fix',
    options: [
      option('--webhook-url <address>', 'the public address of the receiver, as the service knows it'),
      option(
        '--adopt-disk',
        'make this DATA_DIR the disk that holds the images, in place of one that is gone; accept that records are missing',
      ),
    ],
    examples: ['towhook doctor', 'towhook doctor --webhook-url https://hooks.example', 'towhook doctor --json'],
    act: async (call) => {
      const webhookUrl = call.text('webhookUrl') ?? null;
      return shownFindings(await doctor({ webhookUrl, adoptsDisk: call.flag('adoptDisk') }));
    },
  });
  command.description(ABOUT);
}

const ABOUT = `Checks the whole set-up, with the environment of the roles: configuration, this machine and its disk, Redis, the service and its token, the clocks, the shared disk of images, the receiver, the console and the API key.

Nothing is changed, but with --adopt-disk. One access token is asked of the service.`;

function shownFindings(findings: readonly Finding[]): Shown {
  const faults = findings.filter(({ state }) => state === 'fault').length;
  const warnings = findings.filter(({ state }) => state === 'warning').length;
  const width = Math.max(0, ...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, state, what, fix }) => [
    [paint(COLORS[state], state.padEnd(7)), `  ${check.padEnd(width)}  ${what}`],
    ...(fix === null ? [] : [[' '.repeat(width + 11), paint('bold', 'fix:'), ` ${fix}`]]),
  ]);
  return {
    json: { healthy: faults === 0, faults, warnings, findings },
    lines: [
      ...lines,
      '',
      faults === 0 ? `No faults, ${warnings} warnings.` : `${faults} faults, ${warnings} warnings.`,
    ],
    exitCode: faults === 0 ? EXIT.done : EXIT.faultsFound,
  };
}

const COLORS = { fine: 'green', warning: 'yellow', fault: 'red', skipped: 'yellow' } as const;
