import type { Finding } from '../../cli';
import { within } from '../../platform/within';

/** What one look found, in the words of its check. */
export interface Notes {
  fine(code: string, what: string): Finding;
  warning(code: string, what: string, fix: string): Finding;
  fault(code: string, what: string, fix: string): Finding;
  skipped(code: string, what: string): Finding;
}

/** How a check notes what it finds. */
export function notesOf(check: string): Notes {
  return {
    fine: (code, what) => ({ check, state: 'fine', code, what, fix: null }),
    warning: (code, what, fix) => ({ check, state: 'warning', code, what, fix }),
    fault: (code, what, fix) => ({ check, state: 'fault', code, what, fix }),
    skipped: (code, what) => ({ check, state: 'skipped', code, what, fix: null }),
  };
}

/**
 * What a look found; a fault when it has not ended after `limitMs`, or ends in an error, as what is broken in unforeseen
 * ways does. It may go on, and is waited for no longer.
 */
export async function inTime<T>(
  check: string,
  { limitMs, look, otherwise }: { limitMs: number; look: Promise<T>; otherwise: (finding: Finding) => T },
): Promise<T> {
  const notes = notesOf(check);
  const answer = await within(
    limitMs,
    look.then(
      (found) => ({ found }),
      () => null,
    ),
  );
  if (answer === null) {
    return otherwise(notes.fault('no_answer_in_time', `did not answer in time (${limitMs / 1000} s)`, LOOK_YOURSELF));
  }
  if (answer.value === null) return otherwise(notes.fault('look_failed', 'could not be looked at', LOOK_YOURSELF));
  return answer.value.found;
}

const LOOK_YOURSELF = 'Look at what it depends on: a disk that hangs, a network that swallows what is sent.';

const SKEW_WARNING_MS = 30_000;
/** More than this and moments are refused: a fact may lie two minutes ahead of the clock, and no more. */
const SKEW_FAULT_MS = 120_000;

/** What a clock that differs from this machine's means. `skewMs` is positive where the other one is ahead. */
export function clockFinding(check: 'redis clock' | 'service clock', skewMs: number): Finding {
  const notes = notesOf(check);
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const whose = check === 'redis clock' ? 'Redis' : 'the service';
  const code = check === 'redis clock' ? 'redis_clock_skewed' : 'service_clock_skewed';
  const what = `the clock of ${whose} is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} this machine's`;
  const fix = `Let this machine${check === 'redis clock' ? ' and that of Redis' : ''} keep time by NTP (chrony, systemd-timesyncd).`;
  if (Math.abs(skewMs) > SKEW_FAULT_MS) return notes.fault(code, what, fix);
  if (Math.abs(skewMs) > SKEW_WARNING_MS) return notes.warning(code, what, fix);
  return notes.fine('in_step', `at most ${Math.max(1, seconds)} s apart from this machine's`);
}
