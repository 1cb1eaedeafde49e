import { z } from 'zod';
import { runProgram } from './command';
import type { House } from './house';

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

export const SECRETS = { WEBHOOK_SECRETS: `whsec_${Buffer.from('a secret of the tests').toString('base64')}` };

/** What `towhook doctor` finds in a house whose webhooks are signed, but for these changes of its environment. */
export async function examined(
  house: House,
  changes: Readonly<Record<string, string>> = {},
  words: readonly string[] = [],
) {
  const environment = { ...house.environment, ...SECRETS, ...changes };
  const said = await runProgram(['doctor', '--json', ...words], { environment });
  return { ...said, report: report.parse(said.json()) };
}
