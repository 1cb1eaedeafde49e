import { z } from 'zod';
import { examine } from '../../src/main/doctor';
import { systemClock } from '../../src/platform/clock';
import { runProgram, runWith, type CommandResult } from './command';
import type { Installation } from './installation';

const finding = z.object({
  check: z.string(),
  state: z.string(),
  code: z.string(),
  what: z.string(),
  fix: z.string().nullable(),
});
const report = z.strictObject({
  healthy: z.boolean(),
  faults: z.number(),
  warnings: z.number(),
  findings: z.array(finding),
});

export interface Examined extends CommandResult {
  readonly report: z.infer<typeof report>;
}

/** A change of the environment and arguments of `towhook doctor`. */
export interface Change {
  readonly environment?: Readonly<Record<string, string>>;
  readonly words?: readonly string[];
}

export const SECRETS = { WEBHOOK_SECRETS: `whsec_${Buffer.from('a secret of the tests').toString('base64')}` };

/** The environment of a set-up whose webhooks are signed, with changes. */
export function environmentOf(
  installation: Installation,
  changes: Change['environment'] = {},
): Readonly<Record<string, string>> {
  return { ...installation.environment, ...SECRETS, ...changes };
}

/** Runs `towhook doctor --json` in this process. */
export async function examineHere(
  installation: Installation,
  { environment = {}, words = [] }: Change = {},
): Promise<Examined> {
  const changed = environmentOf(installation, environment);
  const result = await runWith(['doctor', '--json', ...words], changed, {
    doctor: (options) => examine({ ...options, clock: systemClock, environment: changed }),
  });
  return { ...result, report: report.parse(result.json()) };
}

/** Runs `towhook doctor --json` in a process of its own. */
export async function examineInProcess(
  installation: Installation,
  { environment, words = [] }: Change = {},
): Promise<Examined> {
  const result = await runProgram(['doctor', '--json', ...words], {
    environment: environmentOf(installation, environment),
  });
  return { ...result, report: report.parse(result.json()) };
}
