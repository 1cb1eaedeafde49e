import '../platform/process-defaults';
import { letHeapGrow } from '../platform/heap';
import { systemClock } from '../platform/clock';
import { ConfigurationError, loadConfig } from '../platform/config/config';
import { errorFacts } from '../platform/errors';
import type { Log } from '../platform/log/log';
import type { Resources } from '../platform/resources';
import { endProcess } from '../platform/process';
import { printProblem } from '../platform/terminal';
import { pause } from '../platform/timers';
import { openLog } from './foundation';
import { PROCESS_ROLES, startRole, type ProcessRole } from './roles';

/**
 * Exit codes: 0 stopped on request, 1 fault, 2 wrong usage or configuration, 3 stalled worker (WORKER_STALLED_MS).
 * A supervisor should restart the process after 1 and 3; after 2 a restart would fail again. A process whose disk hangs
 * is ended by a signal, without its code.
 */
const EXIT = { stopped: 0, fault: 1, startedWrongly: 2, stalled: 3 } as const;

const SAME_SIGNAL_MS = 1000;
/** Time to close everything beyond the grace of running work; together below the 30 s that supervisors wait. */
const CLOSING_MS = 12_000;

async function main(): Promise<void> {
  const role = PROCESS_ROLES.find((known) => known === process.argv[2]);
  if (!role) {
    printProblem(
      `Usage: npm start -- <role>, role is one of ${PROCESS_ROLES.join(', ')}. To see it work: npm run demo`,
    );
    process.exitCode = EXIT.startedWrongly;
    return;
  }
  try {
    await run(role);
  } catch (error) {
    if (error instanceof ConfigurationError) printProblem(`The configuration is wrong:\n${error.message}`);
    else printProblem(problemOf(error));
    const exitCode = error instanceof ConfigurationError ? EXIT.startedWrongly : EXIT.fault;
    await endProcess(exitCode, (problem) => printProblem(`The exit code is lost: ${problem}.`));
  }
}

function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return 'The process could not start.';
  const variables = 'syscall' in error && 'code' in error ? variablesOf(error.syscall, error.code) : null;
  return variables === null ? error.message : `${error.message}: set ${variables}`;
}

const PORTS = 'RECEIVER_PORT, CONSOLE_PORT, SIMULATOR_PORT or OPS_PORT';
const HOSTS = 'HOST, RECEIVER_HOST or CONSOLE_HOST';

/** The variables that decide whether this operation of a listener succeeds; null for any other operation. */
function variablesOf(operation: unknown, code: unknown): string | null {
  if (operation === 'getaddrinfo') return HOSTS;
  if (operation !== 'listen') return null;
  return code === 'EADDRNOTAVAIL' ? HOSTS : PORTS;
}

async function run(role: ProcessRole): Promise<void> {
  const config = loadConfig();
  const log = openLog(config).with({ role });
  const start = startRole(role, { config, log, onStall: () => stop('stalled', EXIT.stalled) });
  const stop = stopOnSignal(start, { log, graceMs: config.stopGraceMs, delayMs: config.stopDelayMs });
  await start;
  letHeapGrow();
  log.info('process.started');
}

type Stop = (reason: string, exitCode: number) => void;

/**
 * Stops the process gracefully on a signal, on a fault, or when the returned function is called. After a signal it works
 * on for `delayMs`, while load balancers notice that it is not ready. A stop during the start waits for the end of the
 * start, since a worker may already have calls under way. A second signal ends the process at once, and so does a stop
 * that takes too long; only its disk is waited for (endProcess). A fault during the stop, and a first signal after a
 * fault, are ignored: calls under way still end, and the exit code is that of the first reason.
 */
function stopOnSignal(
  start: Promise<Resources>,
  { log, graceMs, delayMs }: { log: Log; graceMs: number; delayMs: number },
): Stop {
  let isStarted = false;
  void start.then(
    () => (isStarted = true),
    () => {},
  );
  let isStopping = false;
  const end = (exitCode: number) =>
    endProcess(exitCode, (problem) => log.error('process.disk_hangs', { problem, exit_code: exitCode }));
  const stop = async (reason: string, exitCode: number) => {
    if (isStopping) return;
    isStopping = true;
    log.info('process.stopping', { reason });
    // A fault or stall keeps its exit code, also when the stop takes too long.
    const waitMs = exitCode === EXIT.stopped && isStarted ? delayMs : 0;
    setTimeout(() => void end(exitCode || EXIT.fault), waitMs + graceMs + CLOSING_MS).unref();
    const resources = await start.catch(() => null);
    // The start has failed and closed what it opened; `main` ends the process.
    if (resources === null) return;
    resources.announceEnd();
    if (waitMs > 0) await pause(waitMs);
    await resources.closeAll();
    log.info('process.stopped');
    await end(exitCode);
  };
  let signalledAtMs: number | null = null;
  const onSignal = (signal: NodeJS.Signals) => {
    const nowMs = systemClock.monotonicMs();
    signalledAtMs ??= nowMs;
    // Under npm one Ctrl-C arrives twice: from the terminal and from npm.
    if (nowMs - signalledAtMs >= SAME_SIGNAL_MS) void end(EXIT.fault);
    void stop(signal, EXIT.stopped);
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  const onFault = (error: unknown) => {
    log.error('process.failed', errorFacts(error));
    void stop('fault', EXIT.fault);
  };
  process.on('uncaughtException', onFault).on('unhandledRejection', onFault);
  return (reason, exitCode) => void stop(reason, exitCode);
}

void main();
