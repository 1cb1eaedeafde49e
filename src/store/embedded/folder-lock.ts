import { closeSync, openSync, readFileSync, rmSync, statSync, utimesSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../platform/clock';
import { isAlive } from './processes';
import { codeOf } from '../../platform/system-error';

/** A holder touches its lock this often … */
const HEARTBEAT_MS = 2_000;
/** … and counts as gone after this long without a touch, whatever its process id says. */
const STALE_AFTER_MS = 20_000;
const RETRY_MS = 20;

export interface LockSettings {
  /** The lock's file; its folder exists. */
  readonly file: string;
  readonly clock: Clock;
  /** How long to wait for another holder. */
  readonly waitMs: number;
}

/**
 * Runs `work` while no other process on this machine runs work under the same file. The lock of a process that died is
 * taken over: at once when its process id is free, else when its heartbeat is 20 s old.
 *
 * @throws Error when another holder keeps it for longer than `waitMs`, and whatever `work` throws.
 */
export async function withFolderLock<T>(settings: LockSettings, work: () => Promise<T>): Promise<T> {
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

async function take(settings: LockSettings, holder: string): Promise<void> {
  const givesUpAtMs = settings.clock.monotonicMs() + settings.waitMs;
  while (!create(settings.file, holder)) {
    if (isStale(settings)) breakLock(settings);
    if (settings.clock.monotonicMs() > givesUpAtMs) {
      throw new Error(`another process has held ${settings.file} for longer than ${settings.waitMs} ms`);
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
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function isStale({ file, clock }: LockSettings): boolean {
  const holder = readHolder(file);
  const touchedAtMs = touchedAt(file);
  if (holder === null || touchedAtMs === null) return false;
  if (clock.nowMs() - touchedAtMs > STALE_AFTER_MS) return true;
  const [, host, processId] = holder.split(' ');
  // Empty for the instant between the making of the file and the writing of its text.
  return host === hostname() && processId !== undefined && !isAlive(Number(processId));
}

/**
 * Removes a dead holder's lock. Of all who see it stale only one may, and looks again first: otherwise the slower one
 * would remove the lock that the faster one has just taken.
 */
function breakLock(settings: LockSettings): void {
  const marker = `${settings.file}.break`;
  if (!create(marker, '')) {
    // Whoever made the marker died within the few lines below.
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

function touch({ file, clock }: LockSettings): void {
  const now = new Date(clock.nowMs());
  try {
    utimesSync(file, now, now);
  } catch {
    // The folder was removed under us; the holder's own work will say so.
  }
}

function readHolder(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

function touchedAt(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null;
}
