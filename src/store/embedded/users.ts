import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from './processes';

/**
 * Who uses the server of a folder: one empty file per user, named `<process id>.<id>`. Everything here is synchronous,
 * because the last thing a process does can be nothing else. The id of a process that died may belong to another
 * program by now; then a server runs on until the next start, and nothing is lost.
 */

/** Enters a user of this process and returns the name to leave by. */
export function enter(folder: string, id: string): string {
  const name = `${process.pid}.${id}`;
  mkdirSync(join(folder, 'users'), { recursive: true });
  writeFileSync(join(folder, 'users', name), '');
  return name;
}

export function leave(folder: string, name: string): void {
  rmSync(join(folder, 'users', name), { force: true });
}

/** Whether a process that lives uses the server; forgets those that do not. */
export function isUsed(folder: string): boolean {
  let used = false;
  for (const name of listUsers(folder)) {
    if (isAlive(Number(name.split('.', 1)[0]))) used = true;
    else leave(folder, name);
  }
  return used;
}

function listUsers(folder: string): string[] {
  try {
    return readdirSync(join(folder, 'users'));
  } catch {
    return [];
  }
}
