import { readFile } from 'node:fs/promises';

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
