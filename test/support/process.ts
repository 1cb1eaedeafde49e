import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

/** A role of towhook as a process of its own, seen only from outside: its arguments, its environment, its log. */
export interface RoleProcess {
  readonly processId: number;
  /** What it has logged so far. */
  readonly log: readonly Record<string, unknown>[];
  /** `http://…` of a listener, as soon as the log says that it listens. */
  url(listener: 'receiver' | 'console' | 'simulator' | 'ops'): Promise<string>;
  /** Resolves with the first line that is this event, past or future. */
  logged(event: string): Promise<Record<string, unknown>>;
  kill(signal: NodeJS.Signals): void;
  /** The exit code, null when a signal ended it. */
  readonly exited: Promise<number | null>;
  readonly problems: () => string;
}

const line = z.record(z.string(), z.unknown());
const running = new Set<ChildProcess>();
const folders: string[] = [];

afterEach(async () => {
  // A role that outlived its test would take the work of the next one.
  const ended = [...running].map((child) => new Promise((resolve) => child.once('exit', resolve)));
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(ended);
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
});

/** Starts `npm start -- <role>` without npm around it, on free ports; whatever still runs after the test is killed. */
export async function startProcess(role: string, environment: Record<string, string>): Promise<RoleProcess> {
  const dataDir = await mkdtemp(join(tmpdir(), 'towhook-role-'));
  folders.push(dataDir);
  const ports = { RECEIVER_PORT: '0', CONSOLE_PORT: '0', SIMULATOR_PORT: '0', OPS_PORT: '0' };
  const child = spawn(process.execPath, ['--require', 'tsx/cjs', 'src/main/index.ts', role], {
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir, ...ports, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const log: Record<string, unknown>[] = [];
  const waiting = new Set<() => void>();
  let problems = '';
  let rest = '';
  child.stderr.on('data', (chunk: Buffer) => {
    problems += chunk.toString();
  });
  child.stdout.on('data', (chunk: Buffer) => {
    const lines = `${rest}${chunk.toString()}`.split('\n');
    rest = lines.pop() ?? '';
    log.push(...lines.map((text) => line.parse(JSON.parse(text))));
    for (const check of waiting) check();
  });
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      running.delete(child);
      resolve(code);
    });
  });
  const logged = (event: string) =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      const check = () => {
        const found = log.find(({ message }) => message === event);
        if (!found) return;
        waiting.delete(check);
        resolve(found);
      };
      waiting.add(check);
      check();
      void exited.then(() => reject(new Error(`${role} ended before ${event}: ${problems}`)));
    });
  return {
    processId: child.pid ?? 0,
    log,
    logged,
    url: async (listener) => {
      const { port } = await logged(`${listener}.listening`);
      return `http://127.0.0.1:${String(port)}`;
    },
    kill: (signal) => child.kill(signal),
    exited,
    problems: () => problems,
  };
}
