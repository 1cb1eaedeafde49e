import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pause } from '../platform/timers';
import { isAlive } from './probe';

const RETRY_MS = 20;

export interface FolderLockSettings {
  /** The lock in an existing folder. Each owner has a file of its own beside this name. */
  readonly file: string;
  /** How long to wait for another owner. */
  readonly waitMs: number;
}

/**
 * Runs `work` while no other process runs work under the same lock. It needs no Redis, unlike src/store/redis/locks.ts: it
 * protects the files from which a Redis starts. A process writes a file of its own first and then looks for those of
 * others, so two of them never both find none. The file of a dead process of this machine counts for nothing. That of
 * another machine or container counts until it is removed.
 *
 * @throws Error when another owner keeps the lock for longer than `waitMs`, and the errors of `work`.
 */
export async function withFolderLock<T>(settings: FolderLockSettings, work: () => Promise<T>): Promise<T> {
  const own = await take(settings);
  try {
    return await work();
  } finally {
    rmSync(own, { force: true });
  }
}

let lastNumber = 0;

async function take({ file, waitMs }: FolderLockSettings): Promise<string> {
  lastNumber += 1;
  const own = [file, hostname(), process.pid, startOf(process.pid) ?? '', lastNumber].join('@');
  // Processes that look at the same moment try again at different ones.
  const retryMs = RETRY_MS + (process.pid % RETRY_MS);
  for (let waitedMs = 0; ; waitedMs += retryMs) {
    writeFileSync(own, '');
    const other = livingOwner(file, own);
    if (other === null) return own;
    rmSync(own);
    if (waitedMs > waitMs) throw new Error(`another process has owned ${other} for longer than ${waitMs} ms`);
    await pause(retryMs);
  }
}

/** The file of another owner; null without one. Removes the files of dead ones. */
function livingOwner(file: string, own: string): string | null {
  const names = readdirSync(dirname(file)).filter((name) => name.startsWith(`${basename(file)}@`));
  for (const name of names) {
    const path = join(dirname(file), name);
    if (path === own) continue;
    if (!isDead(name)) return path;
    rmSync(path, { force: true });
  }
  return null;
}

function isDead(name: string): boolean {
  const [, host, processId, startedAt] = name.split('@');
  if (host !== hostname()) return false;
  // Another program may have the process id by now.
  return !isAlive(Number(processId)) || (startedAt !== '' && startOf(Number(processId)) !== startedAt);
}

/** When a process started, in ticks since the machine did; null where the system does not show it. */
function startOf(processId: number): string | null {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
