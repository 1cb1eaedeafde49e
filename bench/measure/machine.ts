import { execFile } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What a reader has to know about the machine to read the figures. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGib: number;
  readonly nodeVersion: string;
  readonly redisVersion: string;
  /** The load average of the last minute before the run: work of others that shared the machine. */
  readonly loadBefore: number;
}

/** Describes this machine. `redisVersion` comes from a running server. */
export function describeMachine(redisVersion: string, loadBefore: number): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    nodeVersion: process.version,
    redisVersion,
    loadBefore,
  };
}

/** The load average of the last minute. */
export function loadAverage(): number {
  return loadavg()[0] ?? 0;
}

/** The short id of the commit that is measured, with `+` when files differ from it; `unknown` outside a git checkout. */
export async function measuredCommit(folder: string): Promise<string> {
  try {
    const { stdout: id } = await run('git', ['rev-parse', '--short', 'HEAD'], { cwd: folder });
    const { stdout: changes } = await run('git', ['status', '--porcelain', '--untracked-files=no'], { cwd: folder });
    return `${id.trim()}${changes.trim() === '' ? '' : '+'}`;
  } catch {
    return 'unknown';
  }
}
