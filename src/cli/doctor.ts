import type { Command } from 'commander';
import { addCommand, option, type CommandTools } from './command';
import { findingLines, sumOfFindings, type Finding } from './finding';
import { EXIT } from './problems';

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
    description: ABOUT,
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

const ABOUT = `Checks the installation, with the environment of the roles: configuration, this machine and its disk, Redis, the service and its token, the clocks, the shared disk of images, the mode, the workers, the receiver, the console and the API key.

It requests one access token from the service, and changes nothing unless --adopt-disk is given.

With --probe it also tries the operations: look-ups in a zone that does not exist, status updates without any field, which name no tow, and OPTIONS for what creates something. Nothing can take effect. The permission for an invoice request and a violation is proved by the first real one.`;
