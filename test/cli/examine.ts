import { z } from 'zod';
import { examine } from '../../src/doctor';
import { systemClock } from '../../src/platform/clock';
import { misreadsJsonKeys } from '../../src/platform/process';
import { runProgram, runWith, type ProgramRun } from './command';
import { CREDENTIALS, type InstalledPackage } from './installation';

/** What the doctor warns of on every run under the Node of the tests. */
export const NODE_WARNINGS: readonly string[] = misreadsJsonKeys() ? ['node_misreads_json'] : [];

const finding = z.object({
  check: z.string(),
  state: z.string(),
  code: z.string(),
  what: z.string(),
  fix: z.string().nullable(),
});
const reportContract = z.strictObject({
  healthy: z.boolean(),
  faults: z.number(),
  warnings: z.number(),
  findings: z.array(finding),
});

export interface Examined extends ProgramRun {
  readonly report: z.infer<typeof reportContract>;
}

/** A change of the environment and arguments of `towhook doctor`. */
export interface EnvironmentChange {
  readonly environment?: Readonly<Record<string, string>>;
  readonly words?: readonly string[];
}

export const SECRETS = { WEBHOOK_SECRETS: `whsec_${Buffer.from('a secret of the tests').toString('base64')}` };

/** The environment of a set-up whose webhooks are signed, with changes. */
export function environmentOf(
  installation: InstalledPackage,
  changes: EnvironmentChange['environment'] = {},
): Readonly<Record<string, string>> {
  // A file examines more often than the limit of token calls allows in a minute.
  return { ...installation.environment, ...SECRETS, BUDGET_AUTH_PER_MINUTE: '0', ...changes };
}

/** Runs `towhook doctor --json` in this process. */
export async function examineHere(
  installation: InstalledPackage,
  { environment = {}, words = [] }: EnvironmentChange = {},
): Promise<Examined> {
  const changed = environmentOf(installation, environment);
  const result = await runWith(['doctor', '--json', ...words], changed, {
    doctor: (options) => examine({ ...options, clock: systemClock, environment: changed }),
  });
  return { ...result, report: reportContract.parse(result.json()) };
}

/** Runs `towhook doctor --json` in a process of its own. */
export async function examineInProcess(
  installation: InstalledPackage,
  { environment, words = [] }: EnvironmentChange = {},
): Promise<Examined> {
  const result = await runProgram(['doctor', '--json', ...words], {
    environment: environmentOf(installation, environment),
  });
  return { ...result, report: reportContract.parse(result.json()) };
}

/** A way to break the set-up and the codes of all faults that the doctor must report then. */
export interface Breakage {
  readonly cause: string;
  readonly faults: readonly string[];
  readonly change: () => Promise<EnvironmentChange>;
}

/** Rows for `test.each`: the fault codes, the cause and the breakage itself. */
export const named = (breakages: readonly Breakage[]) =>
  breakages.map((breakage) => [breakage.faults.join(', '), breakage.cause, breakage] as const);

/** Expects exactly these faults, each with a fix, and no secret in the output. */
export function expectFaults(
  installation: InstalledPackage,
  { exitCode, out, report }: Examined,
  faults: readonly string[],
): void {
  const found = report.findings.filter(({ state }) => state === 'fault');
  expect(found.map(({ code }) => code)).toEqual(faults);
  for (const { fix } of found) expect(fix).toMatch(/\w/);
  expect([exitCode, report.healthy]).toEqual([5, false]);
  for (const secret of [CREDENTIALS.clientSecret, 'not-the-secret', 'not-a-key', installation.app.apiKey, 'a-token']) {
    expect(out).not.toContain(secret);
  }
}
