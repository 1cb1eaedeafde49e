import { closeSync, openSync, readFileSync, rmSync, statSync, utimesSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Clock } from '../platform/clock';
import { pause } from '../platform/timers';
import { isAlive } from './processes';
import { errorCode } from '../platform/errors';

/** The owner touches the lock file this often … */
const HEARTBEAT_MS = 2_000;
/** … and counts as dead after this time without a touch, if nothing else shows whether it lives. */
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
 * src/store/locks.ts: it protects the files from which a Redis starts. The lock of a dead process of this machine is taken
 * over at once, and that of a living one never. Elsewhere, as in an earlier container, an owner without a heartbeat for
 * 20 s is dead. The time of day counts for nothing: it may be set.
 *
 * @throws Error when another owner keeps the lock for longer than `waitMs`, and the errors of `work`.
 */
export async function withFolderLock<T>(settings: FolderLockSettings, work: () => Promise<T>): Promise<T> {
  const holder = `${settings.clock.id()} ${hostname()} ${process.pid} ${startOf(process.pid) ?? ''}`;
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
  const isQuiet = watchTouches(settings.file, settings.clock);
  const isMarkerQuiet = watchTouches(markerOf(settings.file), settings.clock);
  const isStale = () => isOwnerDead(settings.file) ?? isQuiet();
  while (!create(settings.file, holder)) {
    if (isStale()) breakLock(settings.file, isStale);
    // The process that created the marker died within a few lines.
    if (isMarkerQuiet()) rmSync(markerOf(settings.file), { force: true });
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

/** Whether the owner is dead; null if that cannot be seen here. */
function isOwnerDead(file: string): boolean | null {
  const [, host, processId, startedAt] = readHolder(file)?.split(' ') ?? [];
  // The file is empty between its creation and the write of its text.
  if (host !== hostname() || processId === undefined) return null;
  if (!isAlive(Number(processId))) return true;
  const start = startOf(Number(processId));
  // Another program may have the process id by now.
  return start === null || startedAt === undefined || startedAt === '' ? null : start !== startedAt;
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

/** Returns whether the file exists and has not been touched for 20 s of the monotonic clock while this was watched. */
function watchTouches(file: string, clock: Clock): () => boolean {
  let seenMs = touchedAt(file);
  let sinceMs = clock.monotonicMs();
  return () => {
    const touchedAtMs = touchedAt(file);
    if (touchedAtMs === null || touchedAtMs !== seenMs) {
      seenMs = touchedAtMs;
      sinceMs = clock.monotonicMs();
    }
    return clock.monotonicMs() - sinceMs > STALE_AFTER_MS;
  };
}

const markerOf = (file: string) => `${file}.break`;

/**
 * Removes the lock of a dead owner. Only one of the processes that find it stale may do so, and it checks again first.
 * Otherwise a slow process would remove the lock that a fast one has just acquired.
 */
function breakLock(file: string, isStale: () => boolean): void {
  const marker = markerOf(file);
  if (!create(marker, '')) return;
  try {
    if (isStale()) rmSync(file, { force: true });
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
