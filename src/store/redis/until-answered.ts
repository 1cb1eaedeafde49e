import { ReplyError } from 'ioredis';
import { UnusableRecord } from '../../domain/outbox/unusable-record';
import type { Clock } from '../../platform/clock';
import { pause } from '../../platform/timers';
import { NotReplicated } from './replicas';

const REPEAT_PAUSE_MS = 200;
/** A renewal is tried again by its caller. */
export const RENEW_REPEAT_MS = 3000;
/** A process reads a replaced file of data keys within 5 s. */
export const USABLE_REPEAT_MS = 15_000;
/**
 * After a longer outage of Redis, the result of an attempt is lost and its outcome unknown. A claim is repeated for as
 * long: it may have been stored although its reply did not arrive. One that is too old by then is given back unsent.
 */
export const OUTCOME_REPEAT_MS = 600_000;

interface RepeatOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly limitMs: number;
}

/**
 * Repeats an idempotent call while Redis cannot be reached or cannot work, for up to `limitMs`. Then, and on any other
 * error, it rejects with the error of the call.
 */
export function untilAnswered<T>(call: () => Promise<T>, options: RepeatOptions): Promise<T> {
  return repeatWhile(isTransient, call, options);
}

/** The same, while this process cannot use a record. */
export function untilUsable<T>(call: () => Promise<T>, options: RepeatOptions): Promise<T> {
  return repeatWhile((error) => error instanceof UnusableRecord, call, options);
}

async function repeatWhile<T>(
  isRepeated: (error: unknown) => boolean,
  call: () => Promise<T>,
  { clock, limitMs }: RepeatOptions,
): Promise<T> {
  const startedMs = clock.monotonicMs();
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isRepeated(error) || clock.monotonicMs() - startedMs >= limitMs) throw error;
      await pause(REPEAT_PAUSE_MS);
    }
  }
}

/** Error replies of a Redis that cannot work now. Redis 6.2 adds a prefix to those of scripts. */
const CANNOT_WORK_NOW =
  /(?:^|-)(?:LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|OOM|MISCONF|NOREPLICAS) |max number of clients/;
/** Messages of the client library for a closed or silent connection. */
const NO_CONNECTION =
  /^(?:Connection is closed|Stream isn't writeable|Command timed out|Socket timeout|Reached the max)/;
/** Names of its errors for pending commands, and for bytes that are not of the Redis protocol. */
const LOST_NAMES: readonly string[] = ['AbortError', 'ParserError'];
/** Codes of system errors and of closed sockets. Other codes `ERR_…` are bugs of a caller. */
const LOST_CODES = /^(?:E(?!RR_)|ERR_(?:STREAM|SOCKET)_)/;

/**
 * True for the reply of a server that cannot work now. A command or script that was answered so has had no effect: Redis
 * checks this before the first write.
 */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && error instanceof ReplyError && CANNOT_WORK_NOW.test(error.message);
}

/** True for an error of the connection or of the server that may be over later. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof NotReplicated) return true;
  if (error instanceof ReplyError) return isRefusal(error);
  if (LOST_NAMES.includes(error.name) || NO_CONNECTION.test(error.message)) return true;
  return 'code' in error && LOST_CODES.test(String(error.code));
}
