import type { Finding } from '../cli';
import { errorCode, errorMessage, tlsTroubleOf } from '../platform/errors';
import { deniedCommand, isForeignProtocol, isReply } from '../store/redis/connect';
import { DatabaseRefused } from '../store/redis/connection';
import { UnexpectedReply } from '../store/redis/parse';
import { notesOf, TLS_TROUBLES } from './finding';

/** Why Redis cannot be used, as findings of the doctor. */

const notes = notesOf('redis');

/** The finding for a connection that did not become ready. */
export function troubleOf(error: unknown): Finding {
  if (error instanceof DatabaseRefused) {
    const fix = 'Name a database that this Redis has, 0 to 15 by default, and that its user may select.';
    return notes.fault('redis_database_refused', error.message, fix);
  }
  return unreachable(error instanceof Error ? error.cause : null);
}

/** The finding for what ended the checks of a Redis that was ready. */
export function failureOf(error: unknown): Finding {
  const finding = unreachable(error);
  if (finding.code !== 'redis_unreachable') return finding;
  if (error instanceof UnexpectedReply) {
    const fix =
      'A key of towhook was changed, or another program writes to this database: see docs/redis-data-model.md.';
    return notes.fault('redis_data_unexpected', `holds unexpected data: ${error.what}`, fix);
  }
  if (isReply(error)) {
    const fix =
      'Look at the log of Redis, and at docs/operations/redis.md for the versions and settings that it needs.';
    return notes.fault('redis_refuses_command', `refuses a command: ${errorMessage(error)}`, fix);
  }
  return finding;
}

/** The finding for an error of the connection or a reply to its start. */
export function unreachable(error: unknown): Finding {
  const denied = deniedCommand(error);
  if (denied !== null) return notPermitted(denied);
  const message = errorMessage(error);
  if (/NOAUTH|WRONGPASS|NOPERM/.test(message)) {
    const fix =
      'Put the right user into REDIS_URL (redis://user@host:port), and its password there or into REDIS_PASSWORD. docs/operations/redis.md lists the commands that the user needs.';
    return notes.fault(
      'redis_not_allowed',
      'Redis does not accept the user or the password, or its user may not do all that towhook needs',
      fix,
    );
  }
  const code = errorCode(error) ?? '';
  if (UNTRUSTED.test(code)) {
    return notes.fault(
      'redis_certificate_untrusted',
      `Redis has a certificate that no known authority has signed (${code})`,
      'Set REDIS_CA_FILE to a PEM file with the certificate of its authority.',
    );
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return notes.fault(
      'redis_certificate_wrong',
      'the certificate of Redis is for another name than that of REDIS_URL',
      'Put the name of the certificate into REDIS_URL, or into REDIS_TLS_SERVER_NAME.',
    );
  }
  if (/CERT_(HAS_EXPIRED|NOT_YET_VALID)/.test(code)) {
    return notes.fault(
      'redis_certificate_expired',
      `the certificate of Redis is not valid now (${code})`,
      'Check the clock of this machine. If it is right, renew the certificate.',
    );
  }
  if (/^(ERR_SSL_|EPROTO)/.test(code)) {
    const trouble = tlsTroubleOf(code);
    return notes.fault(
      'redis_tls_failed',
      trouble === null
        ? `the TLS connection to Redis fails (${code})`
        : `what answers at REDIS_URL ${TLS_TROUBLES[trouble][0]} (${code})`,
      'Use rediss:// only where Redis speaks TLS. If it asks for a certificate, set REDIS_CLIENT_CERT_FILE and REDIS_CLIENT_KEY_FILE.',
    );
  }
  if (error instanceof Error && isForeignProtocol(error)) {
    const fix = 'Set REDIS_URL to host and port of a Redis; rediss:// where it speaks TLS.';
    return notes.fault('redis_is_something_else', 'what answers at REDIS_URL is no Redis', fix);
  }
  return notes.fault(
    'redis_unreachable',
    `cannot be reached (REDIS_URL): ${problemOf(error)}`,
    'Start Redis, or set REDIS_URL to where it runs; look at firewalls and TLS (rediss://) in between.',
  );
}

/** The finding for a command that the user may not run. */
function notPermitted(command: string): Finding {
  return notes.fault(
    'redis_not_allowed',
    `the user of Redis may not run the command ${command}: webhooks and the API get 503`,
    'Give it all commands of deploy/redis/users.acl, as docs/operations/redis.md shows.',
  );
}

const UNTRUSTED = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET)|CERT_UNTRUSTED/;

/** The reply of Redis, or the meaning of the system's error code; never the message of a library. */
function problemOf(error: unknown): string {
  if (isReply(error)) return errorMessage(error);
  const code = errorCode(error);
  return code === null ? 'no answer' : (SYSTEM_PROBLEMS[code] ?? code);
}

const SYSTEM_PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'unknown host name',
  EAI_AGAIN: 'unknown host name',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the host',
  ETIMEDOUT: 'no answer',
};
