/** `ENOENT`, `ECONNREFUSED` and the like; null for an error without a code. */
export function errorCode(error: unknown): string | null {
  const hasCode = typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string';
  return hasCode ? String(error.code) : null;
}

/**
 * Why the other side makes no TLS connection, by a code of Node in any case: it speaks no TLS at this port, or versions
 * before TLS 1.2 alone. Null for any other code, such as those about certificates.
 */
export function tlsTroubleOf(code: string): 'tls_missing' | 'tls_old' | null {
  if (/wrong_version_number|packet_length_too_long|http_request/i.test(code)) return 'tls_missing';
  return /unsupported_protocol|alert_protocol_version|version_too_low/i.test(code) ? 'tls_old' : null;
}

/** Handles the rejection of a file system call: null when the file or folder does not exist; throws any other error. */
export function nullIfAbsent(error: unknown): null {
  if (errorCode(error) === 'ENOENT') return null;
  throw error;
}

/**
 * The message of an error. System errors name the call, the path and the cause. Fields are read without `instanceof`,
 * because an error of another context of the process (workers, test runners) has another `Error` class.
 */
export function errorMessage(error: unknown): string {
  const hasMessage = typeof error === 'object' && error !== null && 'message' in error;
  return hasMessage ? String(error.message) : String(error);
}

/** The name of an error, to log it without its message, which may quote personal data. `unknown` without one. */
export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}

/** The fields of an error for a log line. Other properties are left out: a request or response is attached to many. */
export function errorFacts(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { error: typeof error === 'string' ? error : 'not an Error' };
  // A syntax error quotes the text that could not be parsed, which may contain personal data.
  if (error.name === 'SyntaxError') return { error: 'could not be parsed', error_name: error.name };
  const code = 'code' in error && typeof error.code === 'string' ? { error_code: error.code } : {};
  return { error: error.message, error_name: error.name, ...code, stack: error.stack };
}
