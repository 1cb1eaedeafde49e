import { readFile } from 'node:fs/promises';
import { failedRules } from '../contracts/rules';
import { parseJson } from './fields';
import { PROFILE_NAMES, profileChanges, type ProfileChanges } from './profile';

/**
 * The profile of a simulator by its name, or from the JSON file of that path.
 *
 * @throws Error that names the file, and the option with its rule.
 */
export async function readProfile(nameOrFile: string): Promise<ProfileChanges> {
  const base = PROFILE_NAMES.find((name) => name === nameOrFile);
  if (base) return { base };
  const text = await readFile(nameOrFile, 'utf8').catch(() => null);
  if (text === null) throw new Error(`must be ${PROFILE_NAMES.join(', ')} or a readable file`);
  const result = profileChanges.safeParse(parseJson(text));
  if (result.success) return result.data;
  const rules = failedRules(result.error).map(({ field, rule }) => `${field} ${rule}`);
  throw new Error(`names a file that is no profile: ${rules.join('; ')}`);
}
