import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { compiledFile } from '../../test/support/compiled';
import { machineMs } from '../measure/resources';

export type RoleName = 'receiver' | 'worker' | 'console' | 'all';
export type RoleListener = 'receiver' | 'console' | 'ops';

/** A process of towhook, started from its compiled output. */
export interface BenchRole {
  readonly processId: number;
  /** From the start of the process until `GET /readyz` answered 200. */
  readonly readyAfterMs: number;
  /** The `http://…` address of one of its listeners. Throws when it has no such listener. */
  url(listener: RoleListener): string;
  /** Log lines of the levels warn and error so far. */
  problems(): readonly string[];
  /** Stops it as a supervisor does: SIGTERM, and SIGKILL after 30 s. */
  stop(): Promise<void>;
  kill(): Promise<void>;
}

const READY_WITHIN_MS = 60_000;
const STOPS_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 5;
/** The listener whose readiness shows that the role can do its work. */
const READY_LISTENER = { receiver: 'receiver', console: 'console', worker: 'ops', all: 'console' } as const;

const logLine = z.looseObject({ message: z.string(), level: z.string(), port: z.int().optional() });

/**
 * Starts a role and resolves when it is ready. Its log goes to a file in `folder`, so that reading it costs the bench no
 * time while it measures. Nothing of this process's environment reaches it but PATH.
 */
export async function startRole(
  role: RoleName,
  { folder, environment }: { folder: string; environment: Readonly<Record<string, string>> },
): Promise<BenchRole> {
  const logFile = join(folder, `${role}-${Math.floor(machineMs() * 1000)}.log`);
  const log = openSync(logFile, 'a');
  const startedMs = machineMs();
  const child = spawn(process.execPath, [compiledFile('src/main/index.ts'), role], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const processId = child.pid ?? 0;
  const endGuard = guard(processId);
  let hasEnded = false;
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      hasEnded = true;
      endGuard();
      resolve();
    });
  });
  const stop = async () => {
    child.kill('SIGTERM');
    const ending = new AbortController();
    const late = pause(STOPS_WITHIN_MS, 'late', { signal: ending.signal }).catch(() => 'ended');
    if ((await Promise.race([exited, late])) === 'late') child.kill('SIGKILL');
    ending.abort();
    await exited;
  };
  const linesOf = () => parseLog(readFileSync(logFile, 'utf8'));
  const urlOf = (listener: RoleListener) => {
    const port = linesOf().find(({ message }) => message === `${listener}.listening`)?.port;
    return port === undefined ? null : `http://127.0.0.1:${port}`;
  };
  try {
    await untilReady(
      () => urlOf(READY_LISTENER[role]),
      () => {
        if (hasEnded) throw new Error(`${role} ended at its start: ${readFileSync(logFile, 'utf8').slice(-2000)}`);
      },
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    processId,
    readyAfterMs: machineMs() - startedMs,
    url(listener) {
      const url = urlOf(listener);
      if (url === null) throw new Error(`${role} has no listener ${listener}`);
      return url;
    },
    problems: () =>
      linesOf()
        .filter(({ level }) => level === 'warn' || level === 'error')
        .map(({ message }) => message),
    stop,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function untilReady(address: () => string | null, check: () => void): Promise<void> {
  const givesUpAtMs = machineMs() + READY_WITHIN_MS;
  while (machineMs() < givesUpAtMs) {
    check();
    const url = address();
    const answer = url === null ? null : await fetch(`${url}/readyz`).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return;
    await pause(LOOK_EVERY_MS);
  }
  throw new Error('a role was not ready in time');
}

/** The complete JSON lines of a log; other lines, such as warnings of Node, are left out. */
function parseLog(text: string): z.output<typeof logLine>[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.filter((line) => line.startsWith('{')).map((line) => logLine.parse(JSON.parse(line)));
}

/**
 * Kills a process when the bench ends, even by SIGKILL: a shell reads from a pipe that only the bench holds open.
 * Returns a function that ends the shell.
 */
function guard(processId: number): () => void {
  const script = 'cat >/dev/null; kill -9 "$1" 2>/dev/null';
  const shell = spawn('sh', ['-c', script, 'sh', String(processId)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.unref();
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return () => void shell.kill('SIGKILL');
}
