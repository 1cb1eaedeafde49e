import { writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { systemClock } from './clock';

/** Takes log lines and writes them to standard output. */
export interface LogOutput {
  /** Takes whole lines as text. Never fails and never pushes back, so winston keeps no lines of its own. */
  readonly stream: Writable;
  /** Writes the waiting lines, as far as the reader takes them; true when none is left. */
  readonly flush: () => boolean;
  /** Ends the collecting: writes what waits and every later line at once, waiting for the reader up to `limitMs`. */
  readonly drain: (limitMs: number) => void;
}

/** Linux writes up to so many bytes to a pipe as one piece, so that processes which share it do not split lines. */
const PIECE_BYTES_MAX = 4096;
/** What waits for a slow reader at most. Further lines are dropped and counted. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;
const RETRY_MS = 10;
/** How long the end of the process waits for a slow reader. */
const EXIT_WAIT_MS = 1000;

interface OutputOptions {
  /** A line about lines that were dropped. */
  readonly droppedLine: (count: number) => string;
  /** Writes bytes and returns how many were taken; throws EAGAIN when none can be. */
  readonly write: (bytes: Uint8Array) => number;
}

/**
 * Collects the lines of one turn of the event loop and writes them together. A reader that is slow never blocks the
 * process: up to 16 MiB wait in memory. A reader that is gone loses the lines; the process goes on.
 */
export function createLogOutput({ droppedLine, write }: OutputOptions): LogOutput {
  const pieces: string[] = [];
  let started: Uint8Array | null = null;
  let waitingBytes = 0;
  let lastPieceBytes = PIECE_BYTES_MAX;
  let dropped = 0;
  let isScheduled = false;
  let isDraining = false;

  const add = (line: string) => {
    const bytes = Buffer.byteLength(line);
    if (waitingBytes + bytes > WAITING_BYTES_MAX) {
      dropped += 1;
      return;
    }
    waitingBytes += bytes;
    const fits = pieces.length > 0 && lastPieceBytes + bytes <= PIECE_BYTES_MAX;
    lastPieceBytes = fits ? lastPieceBytes + bytes : bytes;
    if (fits) pieces[pieces.length - 1] += line;
    else pieces.push(line);
  };

  const clear = () => {
    pieces.length = 0;
    started = null;
    waitingBytes = 0;
  };

  const flush = (): boolean => {
    try {
      while (started !== null || pieces.length > 0) {
        started ??= Buffer.from(pieces.shift() ?? '');
        const taken = write(started);
        waitingBytes -= taken;
        started = taken < started.length ? started.subarray(taken) : null;
        if (dropped > 0 && waitingBytes === 0) {
          add(droppedLine(dropped));
          dropped = 0;
        }
      }
      return true;
    } catch (error) {
      if (isFull(error)) return false;
      clear();
      return true;
    }
  };

  const run = () => {
    isScheduled = !flush();
    if (isScheduled) setTimeout(run, RETRY_MS).unref();
  };

  const stream = new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      add(line);
      if (isDraining) flush();
      else if (!isScheduled) {
        isScheduled = true;
        setImmediate(run);
      }
      done();
    },
  });
  return {
    stream,
    flush,
    drain(limitMs) {
      isDraining = true;
      const untilMs = systemClock.monotonicMs() + limitMs;
      while (!flush() && systemClock.monotonicMs() < untilMs) sleepSync(RETRY_MS);
    },
  };
}

let standardOutput: LogOutput | null = null;

/** The standard output of this process; all logs share one, so that their lines keep their order. */
export function standardLogOutput(droppedLine: OutputOptions['droppedLine']): LogOutput {
  if (standardOutput !== null) return standardOutput;
  // Opening the stream of a pipe makes writing to it non-blocking.
  const { fd } = process.stdout;
  const output = createLogOutput({ droppedLine, write: (bytes) => writeSync(fd, bytes) });
  // Also after an uncaught exception. No later turn of the event loop comes.
  process.once('exit', () => output.drain(EXIT_WAIT_MS));
  standardOutput = output;
  return output;
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}

function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
