import { notesOf, type Finding } from '../cli';
import { errorCode } from '../platform/errors';
import { within } from '../platform/timers';

export { notesOf, type Notes } from '../cli';

/**
 * Resolves with the findings of a check; with a fault when it rejects or takes longer than `limitMs`. Does not cancel
 * the check.
 */
export async function inTime(check: string, limitMs: number, look: Promise<Finding | Finding[]>): Promise<Finding[]> {
  const fault = (code: string, what: string) => notesOf(check).fault(code, what, CHECK_DEPENDENCIES);
  const found = look.catch((error: unknown) => {
    const code = errorCode(error);
    return fault('look_failed', `could not be checked${code === null ? '' : ` (${code})`}`);
  });
  const late = fault('no_answer_in_time', `did not answer in time (${limitMs / 1000} s)`);
  return [(await within(limitMs, found))?.value ?? late].flat();
}

const CHECK_DEPENDENCIES = 'Check what it depends on: a disk that hangs, a network that drops packets.';

/** Matches the cause of a TLS failure when no known authority has signed the certificate. */
export const UNTRUSTED = /unable_to_verify_leaf|self_signed_cert|unable_to_get_issuer_cert/;

/** What the other side of an https or rediss address does, by `tlsTroubleOf`, and what to do. */
export const TLS_TROUBLES = {
  tls_missing: ['speaks no TLS there, but plain HTTP or another protocol', 'Check scheme and port of'],
  tls_old: ['speaks no TLS of version 1.2 or later', 'Have it switched on at the other side of'],
} as const;

const SKEW_WARNING_MS = 30_000;
/** More than this and facts are refused: they may be at most two minutes in the future. */
const SKEW_FAULT_MS = 120_000;

/** The finding for a clock that differs from this machine's; `skewMs` is positive when the other clock is ahead. */
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
