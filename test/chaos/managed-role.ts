import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startRoleProcess, type RoleProcess } from '../support/role-process';
import type { Killable } from './killable';

/** A role whose process is killed, frozen and started again. */
export interface ManagedRole extends Killable {
  readonly name: string;
  /** Resolves when it has started, or was killed before. */
  start(): Promise<void>;
  url(listener: 'receiver' | 'console'): Promise<string>;
  /** Resumes it and asks it to end; kills it when that takes too long. */
  end(): Promise<'in good order' | 'with a fault' | 'killed'>;
  /** Its unexpected ends, with its last error output. */
  readonly unexpectedEnds: readonly string[];
}

export interface ManagedRoleOptions {
  readonly name: string;
  readonly role: 'receiver' | 'worker' | 'console';
  readonly environment: Readonly<Record<string, string>>;
  /** Its DATA_DIR, with a file per running process so that a guard can kill it. */
  readonly dataDir: string;
  readonly onLine: (line: string) => void;
  /** The program of each process that is started. */
  readonly programOf: () => string;
}

/** One process of a role. */
interface RoleRun {
  readonly process: RoleProcess;
  isMeantToEnd: boolean;
  isFrozen: boolean;
}

const LINES_KEPT = 50;
const END_MS = 20_000;

export function createManagedRole(options: ManagedRoleOptions): ManagedRole {
  const { name, role } = options;
  const unexpectedEnds: string[] = [];
  let current: RoleRun | null = null;

  const watch = async (mine: RoleRun, trace: string) => {
    const code = await mine.process.exited;
    rmSync(trace, { force: true });
    if (mine.isMeantToEnd) return;
    unexpectedEnds.push(`${name} ended by itself with ${code ?? 'a signal'}: ${mine.process.problems().slice(-500)}`);
    if (current === mine) current = null;
  };
  const start = async () => {
    const started = startRoleProcess(role, { ...options, program: options.programOf(), linesKept: LINES_KEPT });
    const mine = { process: started, isMeantToEnd: false, isFrozen: false };
    current = mine;
    const trace = join(options.dataDir, `pid-${started.processId}`);
    writeFileSync(trace, '');
    void watch(mine, trace);
    await started.logged('process.started').catch((error: unknown) => {
      if (!mine.isMeantToEnd) throw error;
    });
  };

  return {
    name,
    unexpectedEnds,
    start,
    async kill(downMs) {
      const killed = current;
      if (killed === null) return false;
      current = null;
      killed.isMeantToEnd = true;
      killed.process.kill('SIGKILL');
      await killed.process.exited;
      await pause(downMs);
      await start();
      return true;
    },
    async freeze(forMs) {
      const frozen = current;
      if (frozen === null || frozen.isFrozen) return false;
      frozen.isFrozen = true;
      frozen.process.kill('SIGSTOP');
      await pause(forMs);
      frozen.process.kill('SIGCONT');
      frozen.isFrozen = false;
      return current === frozen;
    },
    url: async (listener) => {
      if (current === null) throw new Error(`${name} is down`);
      return current.process.url(listener);
    },
    async end() {
      const ending = current;
      if (ending === null) return 'killed';
      current = null;
      ending.isMeantToEnd = true;
      ending.process.kill('SIGCONT');
      ending.process.kill('SIGTERM');
      const limit = new AbortController();
      const tooLong = pause(END_MS, 'too long', { signal: limit.signal }).catch(() => 'too long');
      const code = await Promise.race([ending.process.exited, tooLong]);
      limit.abort();
      if (code === 0) return 'in good order';
      ending.process.kill('SIGKILL');
      await ending.process.exited;
      return code === 'too long' ? 'killed' : 'with a fault';
    },
  };
}
