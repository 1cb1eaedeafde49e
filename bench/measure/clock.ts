/** Milliseconds of the machine's monotonic clock: all processes of one machine read the same one. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
