/**
 * What the system's errors say. They are read by their fields: an error that was made in another context of the same
 * process (workers, test runners) is no instance of this one's `Error`.
 */

/** `ENOENT`, `ECONNREFUSED` and the like; null when there is none. */
export function codeOf(error: unknown): string | null {
  const isCoded = typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string';
  return isCoded ? String(error.code) : null;
}

/** Names the call, the path and the cause. */
export function messageOf(error: unknown): string {
  const hasMessage = typeof error === 'object' && error !== null && 'message' in error;
  return hasMessage ? String(error.message) : String(error);
}
