/** What every call of apt-get here is told. */
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
