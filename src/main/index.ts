import { systemClock } from '../platform/clock';
import { ConfigurationError, loadConfig } from '../platform/config';
import { errorFacts, type Log } from '../platform/log';
import type { Resources } from '../platform/resources';
import { yieldToOthers } from '../platform/priority';
import { printProblem } from '../platform/terminal';
import { openLog } from './foundation';
import { PROCESS_ROLES, startRole, type ProcessRole } from './roles';

/**
 * Exit codes: 0 stopped as asked, 1 ended by a fault, 2 started wrongly, 3 a worker that stood still while work waited
 * (WORKER_STANDSTILL_MS). After 1 and 3 whoever runs the process should start it again; after 2 it would end the same.
 */
const EXIT = { stopped: 0, fault: 1, startedWrongly: 2, stoodStill: 3 } as const;

const SAME_SIGNAL_MS = 1000;
/** What closing takes beyond the grace of running work; together they stay below the 30 s a supervisor waits. */
const CLOSING_MS = 12_000;

async function main(): Promise<void> {
  const role = PROCESS_ROLES.find((known) => known === process.argv[2]);
  if (!role) {
    printProblem(`Usage: npm start -- <role>, role is one of ${PROCESS_ROLES.join(', ')}. To just watch: npm run demo`);
    process.exitCode = EXIT.startedWrongly;
    return;
  }
  try {
    await run(role);
  } catch (error) {
    if (error instanceof ConfigurationError) printProblem(`The configuration is wrong:\n${error.message}`);
    else printProblem(problemOf(error));
    process.exit(error instanceof ConfigurationError ? EXIT.startedWrongly : EXIT.fault);
  }
}

function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return 'The process could not start.';
  const isTaken = 'code' in error && error.code === 'EADDRINUSE';
  return isTaken ? `${error.message}: set RECEIVER_PORT, CONSOLE_PORT, SIMULATOR_PORT or OPS_PORT` : error.message;
}

async function run(role: ProcessRole): Promise<void> {
  const config = loadConfig();
  const log = openLog(config).with({ role });
  if (role === 'worker') yieldToOthers();
  let resources: Resources | null = null;
  const stop = stopOnSignal(() => resources?.closeAll(), { log, graceMs: config.stopGraceMs });
  resources = await startRole(role, { config, log, onStandstill: () => stop('standstill', EXIT.stoodStill) });
  log.info('process.started');
}

type Stop = (reason: string, exitCode: number) => void;

/**
 * Stops once, gracefully, on a signal, a fault, or when told to; a second signal or a stop that takes too long ends the
 * process at once.
 */
function stopOnSignal(
  closeAll: () => Promise<void> | undefined,
  { log, graceMs }: { log: Log; graceMs: number },
): Stop {
  let stoppingSinceMs: number | null = null;
  const stop = async (reason: string, exitCode: number) => {
    const nowMs = systemClock.monotonicMs();
    // One Ctrl-C arrives twice under npm: from the terminal and passed on.
    if (stoppingSinceMs !== null && nowMs - stoppingSinceMs < SAME_SIGNAL_MS) return;
    if (stoppingSinceMs !== null) process.exit(EXIT.fault);
    stoppingSinceMs = nowMs;
    log.info('process.stopping', { reason });
    // What ends for a reason of its own keeps its exit code, however it ends.
    setTimeout(() => process.exit(exitCode || EXIT.fault), graceMs + CLOSING_MS).unref();
    await closeAll();
    log.info('process.stopped');
    process.exit(exitCode);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal, EXIT.stopped));
  const onFault = (error: unknown) => {
    log.error('process.failed', errorFacts(error));
    void stop('fault', EXIT.fault);
  };
  process.on('uncaughtException', onFault).on('unhandledRejection', onFault);
  return (reason, exitCode) => void stop(reason, exitCode);
}

void main();
