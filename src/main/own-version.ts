import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonObject } from '../contracts/common';
import { projectFolder } from '../platform/project-folder';

/** The version in the project's package.json; `unknown` without one. */
export function ownVersion(): string {
  const file = join(projectFolder(), 'package.json');
  const { version } = existsSync(file) ? jsonObject.parse(JSON.parse(readFileSync(file, 'utf8'))) : {};
  return typeof version === 'string' ? version : 'unknown';
}
