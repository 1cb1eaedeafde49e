import { valueUnder, type Messages } from '../messages';

type CauseName = keyof Messages['notifications']['causes'];

/** Codes of the senders (src/notify): their own, those of Node and those of the mail library. */
const CAUSES: readonly (readonly [pattern: RegExp, name: CauseName])[] = [
  [/^(?:timeout|ETIMEDOUT|UND_ERR_\w+_TIMEOUT)$/, 'timeout'],
  [/^(?:EDNS|ENOTFOUND|EAI_AGAIN)$/, 'dns_failed'],
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(?:ECONNRESET|ECONNECTION|EPIPE|UND_ERR_SOCKET)(?:_\d+)?$/, 'connection_reset'],
  [/^(?:EHOSTUNREACH|ENETUNREACH)$/, 'unreachable'],
  [/^ETLS|CERT|_TLS_|_SSL_|_SIGNATURE$/, 'tls'],
  [/^(?:EAUTH|ENOAUTH)/, 'sign_in_refused'],
  [/^EENVELOPE/, 'addresses_refused'],
  [/^EMESSAGE/, 'message_refused'],
  [/^ESOCKET/, 'connection_failed'],
];

/** What prevents the delivery of notices, in words; `problem` is its stored code, such as `http_500`. */
export function noticeProblemText({ notifications }: Pick<Messages, 'notifications'>, problem: string): string {
  const { causes, answered, someRefused } = notifications;
  const [, status] = /^http_(\d+)$/.exec(problem) ?? [];
  if (status !== undefined) return answered({ status });
  const [, count] = /^refused_(\d+)_addresses$/.exec(problem) ?? [];
  if (count !== undefined) return someRefused({ count: Number(count) });
  const known = CAUSES.find(([pattern]) => pattern.test(problem))?.[1];
  return known === undefined ? (valueUnder(causes, problem) ?? causes.not_sent) : causes[known];
}
