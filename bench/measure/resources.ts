import { readFile } from 'node:fs/promises';
import { pause } from '../../src/platform/timers';

/** Milliseconds of the machine's monotonic clock: all processes of one machine read the same one. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Linux counts CPU time in hundredths of a second. */
const TICK_MS = 10;

/** CPU time a process has used since its start, user and system, ms in steps of 10. Linux only. */
export async function cpuMs(processId: number): Promise<number> {
  const stat = await readFile(`/proc/${processId}/stat`, 'utf8');
  // The command name, in parentheses, may contain spaces. User and system time are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** Resident memory of a process, MiB. Linux only. */
export async function residentMib(processId: number): Promise<number> {
  const status = await readFile(`/proc/${processId}/status`, 'utf8');
  const [, kibibytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  return Number(kibibytes) / 1024;
}

/** The CPU time that processes have used since the meter was opened, ms. */
export async function openCpuMeter(processIds: readonly number[]): Promise<() => Promise<number>> {
  const read = async () => (await Promise.all(processIds.map(cpuMs))).reduce((sum, each) => sum + each, 0);
  const before = await read();
  return async () => (await read()) - before;
}

const LOOK_EVERY_MS = 100;

/** Watches the memory of processes; `end` resolves with the maximum of each, MiB. */
export function watchMemory(processIds: readonly number[]): { end(): Promise<(processId: number) => number> } {
  const highest = new Map<number, number>();
  const ending = new AbortController();
  const look = async () => {
    for (const processId of processIds) {
      highest.set(processId, Math.max(highest.get(processId) ?? 0, await residentMib(processId)));
    }
  };
  const looking = (async () => {
    while (!ending.signal.aborted) {
      await look();
      await pause(LOOK_EVERY_MS);
    }
  })();
  return {
    async end() {
      ending.abort();
      await looking;
      await look();
      return (processId) => highest.get(processId) ?? Number.NaN;
    },
  };
}
