import { writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { systemClock } from '../clock';

/** Writes log lines to standard output. */
export interface LogOutput {
  /** Takes whole lines. Never fails and has no backpressure, so winston buffers nothing. */
  readonly stream: Writable;
  /** Writes the waiting lines as far as the reader takes them; true when none is left. */
  readonly flush: () => boolean;
  /** Writes all waiting and later lines at once, and waits for the reader up to `limitMs`. */
  readonly drain: (limitMs: number) => void;
}

/** Linux writes up to this many bytes to a pipe atomically, so that processes which share a pipe do not split lines. */
const PIECE_BYTES_MAX = 4096;
/** The buffer for a slow reader. Further lines are dropped and counted. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;
const RETRY_MS = 10;
/** How long the end of the process waits for a slow reader. */
const EXIT_WAIT_MS = 1000;

interface OutputOptions {
  /** The log line about dropped lines. */
  readonly droppedLine: (count: number) => string;
  /** Writes bytes and returns how many were written; throws EAGAIN when the pipe is full. */
  readonly write: (bytes: Uint8Array) => number;
}

/**
 * Writes the lines of one turn of the event loop together. A slow reader never blocks the process: up to 16 MiB are
 * buffered. Without a reader the lines are lost and the process continues.
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

/** The standard output of this process. All logs share it, so that their lines keep their order. */
export function standardLogOutput(droppedLine: OutputOptions['droppedLine']): LogOutput {
  if (standardOutput !== null) return standardOutput;
  // Opening the stream makes writes to a pipe non-blocking.
  const { fd } = process.stdout;
  const output = createLogOutput({ droppedLine, write: (bytes) => writeSync(fd, bytes) });
  // Also runs after an uncaught exception, when no later turn of the event loop comes.
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
