import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { systemClock } from './clock';
import { pause } from './timers';

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

const DISK_HANGS = 'a call to the disk does not end, so this process ends itself by a signal';
/** How long the end of the process waits for the disk. */
const DISK_WAIT_MS = 2000;
const DISK_LOOK_MS = 10;

/**
 * Ends the process with this exit code. `process.exit` waits for calls to the disk that are under way, without a limit.
 * While one hangs, the problem is reported, and the process ends itself by a signal, which a supervisor sees in place of
 * the code.
 */
export async function endProcess(exitCode: number, report: (problem: string) => void): Promise<never> {
  const untilMs = systemClock.monotonicMs() + DISK_WAIT_MS;
  while (isDiskBusy() && systemClock.monotonicMs() < untilMs) await pause(DISK_LOOK_MS);
  if (isDiskBusy()) {
    // A line of level error is written at once. What runs at an exit may need the disk itself.
    report(DISK_HANGS);
    // The first process of a container is not killed by its own SIGKILL.
    if (process.pid !== 1) process.kill(process.pid, 'SIGKILL');
    process.abort();
  }
  process.exit(exitCode);
}

/** True while a call to the disk is under way. */
function isDiskBusy(): boolean {
  return process.getActiveResourcesInfo().some((name) => /^(FSReq|FileHandleCloseReq)/i.test(name));
}
