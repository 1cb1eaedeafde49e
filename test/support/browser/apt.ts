/**
 * Debian's package of Chromium without windows, whose program has the same name. It renders pages as Chromium does and
 * needs half the processor time.
 */
export const CHROMIUM_PACKAGE = 'chromium-headless-shell';

/** Options of every call of apt-get. */
export const QUIET_AND_PATIENT: readonly string[] = [
  '-q',
  '-y',
  '-o',
  'Acquire::Retries=2',
  '-o',
  'Acquire::http::Timeout=20',
];

/** Longer than another process may take to fetch the browser. */
export const FETCH_WAIT_MS = 8 * 60_000;
