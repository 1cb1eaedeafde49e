import type { Command } from 'commander';
import { addCommand, option, type CommandTools, type CommandOutput } from './command';
import { findingLines, sumOfFindings, type Finding } from './finding';
import { EXIT } from './problems';
import { paint } from './terminal';

export interface DoctorOptions {
  /** The public address of the receiver; null checks the receiver of this machine. */
  readonly webhookUrl: string | null;
  /** Makes DATA_DIR the shared disk, in place of the earlier one. */
  readonly adoptsDisk: boolean;
  /** Tries each operation of the service without effect. */
  readonly probes: boolean;
  /** Sends a signed test call to the receiver. It changes no tow. */
  readonly testsWebhook: boolean;
}

export type Doctor = (options: DoctorOptions) => Promise<readonly Finding[]>;

/** `towhook doctor`: checks the installation and prints how to fix each fault. */
export function addDoctor(program: Command, { tools, doctor }: { tools: CommandTools; doctor: Doctor }): void {
  addCommand(program, tools, {
    usage: 'doctor',
    summary: 'check the installation and print how to fix each fault',
    description: ABOUT_DOCTOR,
    options: [
      option('--webhook-url <address>', 'the public address of the receiver, as the service knows it'),
      option('--probe', 'try each operation of the service without effect, and name the wrong address or permission'),
      option(
        '--adopt-disk',
        'make this DATA_DIR the shared disk of images, in place of a lost one; its images stay lost',
      ),
    ],
    examples: [
      'towhook doctor',
      'towhook doctor --probe',
      'towhook doctor --webhook-url https://hooks.example',
      'towhook doctor --json',
    ],
    run: async (call) => {
      const webhookUrl = call.text('webhookUrl') ?? null;
      const options = {
        webhookUrl,
        adoptsDisk: call.flag('adoptDisk'),
        probes: call.flag('probe'),
        testsWebhook: false,
      };
      const findings = await doctor(options);
      const { faults, warnings } = sumOfFindings(findings);
      return {
        json: { healthy: faults === 0, faults, warnings, findings },
        lines: findingLines(findings),
        exitCode: faults === 0 ? EXIT.done : EXIT.faultsFound,
      };
    },
  });
}

const ABOUT_DOCTOR = `Checks the installation, with the environment of the roles: configuration, this machine and its disk, Redis, the service and its token, the clocks, the shared disk of images, the mode, the workers, the receiver, the console and the API key.

It requests one access token from the service, and changes nothing unless --adopt-disk is given.

With --probe it also tries the operations: look-ups in a zone that does not exist, status updates without any field, which name no tow, and OPTIONS for what creates something. Nothing can take effect. The permission for an invoice request and a violation is proved by the first real one.`;

/** A step of the set-up, and the findings that decide about it. */
interface SetupStep {
  readonly title: string;
  readonly findings: readonly Finding[];
}

const TITLES = [
  'Configuration',
  'This machine and Redis',
  'The service',
  'Its operations',
  'Webhooks',
  'Worker',
  'Console',
  'First webhook',
] as const;

/** The checks of `towhook doctor` that belong to each step, in the order in which an installation is set up. */
const CHECKS: Readonly<Record<(typeof TITLES)[number], readonly string[]>> = {
  Configuration: ['configuration'],
  'This machine and Redis': ['node', 'disk', 'redis', 'redis clock', 'images'],
  'The service': ['service', 'service clock', 'address'],
  'Its operations': ['operation'],
  Webhooks: ['receiver', 'webhook test'],
  Worker: ['worker', 'mode'],
  Console: ['console', 'sign-in'],
  'First webhook': ['first webhook'],
};

/** `towhook first-day`: leads through the set-up, and ends with a report whether the installation is ready. */
export function addFirstDay(program: Command, { tools, doctor }: { tools: CommandTools; doctor: Doctor }): void {
  addCommand(program, tools, {
    usage: 'first-day',
    summary: 'lead through the set-up with the real service, and report whether all is ready',
    description: ABOUT_FIRST_DAY,
    options: [option('--webhook-url <address>', 'the public address of the receiver, as the service knows it')],
    examples: [
      'towhook first-day',
      'towhook first-day --webhook-url https://hooks.example',
      'towhook first-day --json',
    ],
    run: async (call) => {
      const webhookUrl = call.text('webhookUrl') ?? null;
      const findings = await doctor({ webhookUrl, adoptsDisk: false, probes: true, testsWebhook: true });
      const steps = TITLES.map((title) => ({
        title,
        findings: findings.filter(({ check }) => CHECKS[title].includes(check)),
      }));
      return readiness(steps);
    },
  });
}

const ABOUT_FIRST_DAY = `Leads through the set-up with the real service. Set the environment of the roles, start them with SERVICE_MODE=shadow, and repeat this command until it reports that all is ready; each time it names the next thing to do.

It makes the checks of towhook doctor --probe, sends a signed test call to the receiver, and looks whether a webhook of the service has come. Nothing takes effect at the service. The exit code is 0 when all is ready, else 1.`;

const STEP_STATES = { done: 'done', noted: 'done, see below', open: 'open' } as const;

/** Checks that prove more than a step needs: a service may not tell its time, or refuse to be probed. */
const NOT_DECISIVE: readonly string[] = ['service clock', 'operation'];

function stateOf({ findings }: SetupStep): keyof typeof STEP_STATES {
  const isOpen = ({ check, state }: Finding) =>
    state === 'fault' || (state === 'skipped' && !NOT_DECISIVE.includes(check));
  if (findings.length === 0 || findings.some(isOpen)) return 'open';
  return findings.some(({ state }) => state === 'warning' || state === 'skipped') ? 'noted' : 'done';
}

function readiness(steps: readonly SetupStep[]): CommandOutput {
  const open = steps.filter((step) => stateOf(step) === 'open');
  const isReady = open.length === 0;
  const found = new Set(steps.flatMap(({ findings }) => findings.map(({ code }) => code)));
  const isShadow = found.has('shadow_mode');
  const isLive = found.has('live_mode') || found.has('mode_differs');
  const next = open.flatMap(({ findings }) => findings).find(({ state }) => state === 'fault')?.fix ?? null;
  const lines = steps.flatMap((step, at) => [
    [paint('bold', `${at + 1}. ${step.title}: `), paint(COLORS[stateOf(step)], STEP_STATES[stateOf(step)])],
    ...step.findings
      .filter(({ state }) => state !== 'fine')
      .flatMap(({ state, what, fix }) => [
        [state === 'skipped' ? `   not looked at: ${what}` : `   ${what}`],
        ...(fix === null ? [] : [[`   `, paint('bold', 'do:'), ` ${fix}`]]),
      ]),
    ...(step.findings.length === 0 ? [['   not looked at: an earlier step must be done first']] : []),
  ]);
  return {
    json: {
      ready: isReady,
      mode: isShadow ? 'shadow' : isLive ? 'live' : null,
      next,
      steps: steps.map((step) => ({ title: step.title, state: stateOf(step), findings: step.findings })),
    },
    lines: [...lines, '', verdict(open.length, { isShadow, next })],
    exitCode: isReady ? EXIT.done : EXIT.refused,
  };
}

function verdict(
  open: number,
  { isShadow, next }: { readonly isShadow: boolean; readonly next: string | null },
): string {
  if (open > 0)
    return `Not ready: ${open} ${open === 1 ? 'step is' : 'steps are'} open.${next === null ? '' : ` Next: ${next}`}`;
  if (isShadow)
    return 'Ready. Shadow mode sends nothing yet: look at what it would send, then go live as the finding describes.';
  return 'Ready: live.';
}

const COLORS = { done: 'green', noted: 'yellow', open: 'red' } as const;
