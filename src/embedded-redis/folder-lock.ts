import { closeSync, openSync, readFileSync, rmSync, statSync, utimesSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Clock } from '../platform/clock';
import { pause } from '../platform/timers';
import { isAlive } from './processes';
import { errorCode } from '../platform/errors';

/** The owner touches the lock file this often … */
const HEARTBEAT_MS = 2_000;
/** … and counts as dead after this time without a touch, even if its process id exists. */
const STALE_AFTER_MS = 20_000;
const RETRY_MS = 20;

export interface FolderLockSettings {
  /** The lock file, in an existing folder. */
  readonly file: string;
  readonly clock: Clock;
  /** How long to wait for another owner. */
  readonly waitMs: number;
}

/**
 * Runs `work` while no other process on this machine runs work under the same lock file. It needs no Redis, unlike
 * src/store/locks.ts: it protects the files from which a Redis starts. The lock of a dead process is taken over at once
 * when its process id is free, else when its heartbeat is 20 s old.
 *
 * @throws Error when another owner keeps the lock for longer than `waitMs`, and the errors of `work`.
 */
export async function withFolderLock<T>(settings: FolderLockSettings, work: () => Promise<T>): Promise<T> {
  const holder = `${settings.clock.id()} ${hostname()} ${process.pid}`;
  await take(settings, holder);
  const heartbeat = setInterval(() => touch(settings), HEARTBEAT_MS);
  heartbeat.unref();
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    if (readHolder(settings.file) === holder) rmSync(settings.file, { force: true });
  }
}

async function take(settings: FolderLockSettings, holder: string): Promise<void> {
  const givesUpAtMs = settings.clock.monotonicMs() + settings.waitMs;
  while (!create(settings.file, holder)) {
    if (isStale(settings)) breakLock(settings);
    if (settings.clock.monotonicMs() > givesUpAtMs) {
      throw new Error(`another process has owned ${settings.file} for longer than ${settings.waitMs} ms`);
    }
    await pause(RETRY_MS);
  }
}

/** False when the file exists already. */
function create(file: string, text: string): boolean {
  try {
    const descriptor = openSync(file, 'wx');
    writeSync(descriptor, text);
    closeSync(descriptor);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function isStale({ file, clock }: FolderLockSettings): boolean {
  const holder = readHolder(file);
  const touchedAtMs = touchedAt(file);
  if (holder === null || touchedAtMs === null) return false;
  if (clock.nowMs() - touchedAtMs > STALE_AFTER_MS) return true;
  const [, host, processId] = holder.split(' ');
  // The file is empty between its creation and the write of its text.
  return host === hostname() && processId !== undefined && !isAlive(Number(processId));
}

/**
 * Removes the lock of a dead owner. Only one of the processes that find it stale may do so, and it checks again first.
 * Otherwise a slow process would remove the lock that a fast one has just acquired.
 */
function breakLock(settings: FolderLockSettings): void {
  const marker = `${settings.file}.break`;
  if (!create(marker, '')) {
    // The process that created the marker died within the few lines below.
    const madeAtMs = touchedAt(marker);
    if (madeAtMs !== null && settings.clock.nowMs() - madeAtMs > STALE_AFTER_MS) rmSync(marker, { force: true });
    return;
  }
  try {
    if (isStale(settings)) rmSync(settings.file, { force: true });
  } finally {
    rmSync(marker, { force: true });
  }
}

function touch({ file, clock }: FolderLockSettings): void {
  const now = new Date(clock.nowMs());
  try {
    utimesSync(file, now, now);
  } catch {
    // The folder was removed. The work of the owner will fail with a better error.
  }
}

function readHolder(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function touchedAt(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null;
}
