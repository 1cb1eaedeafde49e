import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { jsonObject } from '../contracts/common';

/** Told by the nearest package.json above this file: the same for sources and for the built program. */
export function ownVersion(): string {
  let folder = __dirname;
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  const file = join(folder, 'package.json');
  const { version } = existsSync(file) ? jsonObject.parse(JSON.parse(readFileSync(file, 'utf8'))) : {};
  return typeof version === 'string' ? version : 'unknown';
}
