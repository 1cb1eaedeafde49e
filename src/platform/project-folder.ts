import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The nearest folder above this file that holds a `package.json`; the same for sources and for the built program. */
export function projectFolder(): string {
  let folder = __dirname;
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
