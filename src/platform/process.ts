import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';

/** The nearest parent folder with a `package.json`; the same for the sources and the compiled program. */
export function projectFolder(): string {
  let folder = __dirname;
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

/** The version in the project's package.json; `unknown` without one. */
export function projectVersion(): string {
  const file = join(projectFolder(), 'package.json');
  if (!existsSync(file)) return 'unknown';
  return z.object({ version: z.string() }).safeParse(JSON.parse(readFileSync(file, 'utf8'))).data?.version ?? 'unknown';
}

/** What identifies this process to an operator. */
export function describeProcess() {
  return { hostName: hostname(), processId: process.pid, version: projectVersion(), nodeVersion: process.version };
}

/**
 * True if this Node may read a key of JSON that has an escape, such as `"\""`, as another key. Node 24 to 26 do so after
 * they have read a key with a backslash: https://github.com/nodejs/node/issues/63785.
 */
export function misreadsJsonKeys(): boolean {
  // From now on the fault shows in objects that begin with this key.
  JSON.parse('{"trial of keys":0,"\\\\":0}');
  const trial: unknown = JSON.parse('{"trial of keys":0,"\\"":0}');
  return typeof trial === 'object' && trial !== null && !('"' in trial);
}

/** Ends the process, as an unhandled failure does. */
export function throwUnhandled(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}
