import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startRoleProcess, type RoleProcess } from '../support/role-process';
import type { Mortal } from './mortal';

/** A role process that is killed, frozen and started again, under one name. */
export interface Actor extends Mortal {
  readonly name: string;
  /** Resolves when it has started, unless it is killed before. */
  start(): Promise<void>;
  url(listener: 'receiver' | 'console'): Promise<string>;
  /** Lets it go on and asks it to end; it is killed when that takes too long. Says how it ended. */
  end(): Promise<'in good order' | 'with a fault' | 'killed'>;
  /** How often it ended although nobody killed it, with its last words. */
  readonly ownEnds: readonly string[];
}

export interface ActorOptions {
  readonly name: string;
  readonly role: 'receiver' | 'worker' | 'console';
  readonly environment: Readonly<Record<string, string>>;
  /** Its DATA_DIR; holds a file for every process that runs, for whoever must end them if we cannot. */
  readonly dataDir: string;
  readonly onLine: (line: string) => void;
}

/** One process of an actor. */
interface Run {
  readonly process: RoleProcess;
  isMeantToEnd: boolean;
  isFrozen: boolean;
}

const LINES_KEPT = 50;
const END_MS = 20_000;

export function createActor(options: ActorOptions): Actor {
  const { name, role } = options;
  const ownEnds: string[] = [];
  let current: Run | null = null;

  const watch = async (mine: Run, trace: string) => {
    const code = await mine.process.exited;
    rmSync(trace, { force: true });
    if (mine.isMeantToEnd) return;
    ownEnds.push(`${name} ended by itself with ${code ?? 'a signal'}: ${mine.process.problems().slice(-500)}`);
    if (current === mine) current = null;
  };
  const start = async () => {
    const started = startRoleProcess(role, { ...options, linesKept: LINES_KEPT });
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
    ownEnds,
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
