import { spawn } from 'node:child_process';
import { z } from 'zod';
import { compiledFile } from './compiled';

/** A towhook role that runs as its own process. Tests see only its arguments, its environment and its log. */
export interface RoleProcess {
  readonly processId: number;
  /** The parsed log lines so far; with `linesKept`, the last of them. */
  readonly log: readonly Record<string, unknown>[];
  /** The `http://…` address of a listener, once its port is in the log. */
  url(listener: 'receiver' | 'console' | 'simulator' | 'ops'): Promise<string>;
  /** Resolves with the first log line of this event, past or future. Rejects when the process exits before it. */
  logged(event: string): Promise<Record<string, unknown>>;
  kill(signal: NodeJS.Signals): void;
  /** The exit code; null after a signal. */
  readonly exited: Promise<number | null>;
  /** Everything written to stderr. */
  readonly problems: () => string;
}

export interface RoleOptions {
  readonly environment: Readonly<Record<string, string>>;
  /** DATA_DIR: an existing folder. */
  readonly dataDir: string;
  /** How many log lines are kept; by default all. */
  readonly linesKept?: number;
  /** The program of the roles; by default that of this version. */
  readonly program?: string;
  /** Called with every log line. */
  readonly onLine?: (line: string) => void;
}

const line = z.record(z.string(), z.unknown());

/** Starts what `npm start -- <role>` starts, on free ports. The caller ends the process. */
export function startRoleProcess(role: string, options: RoleOptions): RoleProcess {
  const { environment, dataDir, linesKept = Infinity, onLine = () => {} } = options;
  const { program = compiledFile('src/main/index.ts') } = options;
  const ports = { RECEIVER_PORT: '0', CONSOLE_PORT: '0', SIMULATOR_PORT: '0', OPS_PORT: '0' };
  const child = spawn(process.execPath, [program, role], {
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir, ...ports, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
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
    for (const text of lines) {
      log.push(line.parse(JSON.parse(text)));
      onLine(text);
    }
    for (const check of waiting) check();
    if (log.length > linesKept) log.splice(0, log.length - linesKept);
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
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
