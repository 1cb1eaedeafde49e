import type { Finding } from '../cli';
import { foreignBodyMessage } from '../domain/outbox/exchange-message';
import type { Exchange } from '../domain/service/policy';
import type { Config } from '../platform/config/config';
import { tlsTroubleOf } from '../platform/errors';
import { notesOf, TLS_TROUBLES, UNTRUSTED } from './finding';

const notes = notesOf('service');
const CREDENTIALS = 'SERVICE_CLIENT_ID and SERVICE_CLIENT_SECRET';

/** What the token call depends on. */
interface TokenCall {
  readonly url: string;
  readonly config: Config;
}

/** The finding for the result of the token call. */
export function tokenMeaning(exchange: Exchange, call: TokenCall): Finding {
  switch (exchange.kind) {
    case 'accepted':
      return notes.fine(
        'token_given',
        `gives an access token for these credentials${exchange.differences ? `, in an answer that differs from the document: ${exchange.differences.join('; ')}` : ''}`,
      );
    case 'contract_broken':
      return notes.fault(
        'service_answers_otherwise',
        `something answers ${exchange.httpStatus}, but not as the service does: ${exchange.issues.join('; ')}`,
        'Check host and path prefix of SERVICE_BASE_URL.',
      );
    case 'not_the_service':
      return notes.fault(
        'service_answers_otherwise',
        `something answers ${exchange.httpStatus}, but not as the service does: ${foreignBodyMessage(exchange.cause)}`,
        'Check host and path prefix of SERVICE_BASE_URL, and whether a proxy or a page answers in its place.',
      );
    case 'surely_not_sent':
    case 'partly_sent':
    case 'unanswered':
    case 'connection':
      return unreachable(exchange.cause, call);
    case 'dropped':
      return notes.skipped(
        'not_looked_at',
        'the budget of token calls (BUDGET_AUTH_PER_MINUTE) is used up; try again in a minute',
      );
    case 'refused':
      return refusalMeaning(exchange, call.url);
  }
}

/** Names what stands between here and the service: a proxy, an authority, a certificate of ours, or the network. */
function unreachable(cause: string, { config }: TokenCall): Finding {
  const { proxyUrl } = config.service.outbound;
  const what = `does not answer: ${cause.replaceAll('_', ' ')}`;
  if (cause === 'proxy_http_407') {
    return notes.fault(
      'service_proxy_wrong',
      'the proxy does not accept the credentials in SERVICE_PROXY_URL (407)',
      'Set SERVICE_PROXY_URL=http://user:password@host:port; characters such as @ and : in them are percent-encoded.',
    );
  }
  if (cause.startsWith('proxy_')) {
    const why = `the proxy of SERVICE_PROXY_URL opens no tunnel to the service: ${cause.replaceAll('_', ' ')}`;
    return notes.fault('service_proxy_wrong', why, 'Check its address, and that it lets CONNECT pass to the service.');
  }
  if (/certificate_required|handshake_failure|bad_certificate/.test(cause)) {
    const fix =
      'Set SERVICE_CLIENT_CERT_FILE and SERVICE_CLIENT_KEY_FILE to the certificate that the service has issued.';
    const or = cause.includes('handshake_failure') ? ', or has no cipher in common with Node' : '';
    return notes.fault('service_wants_certificate', `asks for a certificate of its clients${or}: ${what}`, fix);
  }
  if (UNTRUSTED.test(cause)) {
    return notes.fault(
      'service_certificate_untrusted',
      `has a certificate that no known authority has signed (${cause.replaceAll('_', ' ')})`,
      'Set SERVICE_CA_FILE to a PEM file with the certificate of its authority. If a proxy of your network inspects TLS: with that of the proxy.',
    );
  }
  if (cause.startsWith('tls_')) return tlsFault(cause, what);
  if (cause.startsWith('unreadable_')) {
    const fix = config.service.readsLeniently
      ? 'Ask its administration, and that of the proxies before it, to send answers that keep HTTP.'
      : 'Ask its administration, and that of the proxies before it, to repair that. SERVICE_LENIENT_HTTP=true may read it meanwhile.';
    const why = `its answers have a head that breaks HTTP: ${cause.replaceAll('_', ' ')}`;
    return notes.fault('service_answers_otherwise', why, fix);
  }
  if (proxyUrl === null && config.namesProxy) {
    return notes.fault(
      'service_proxy_needed',
      `${what}; the environment names a proxy in HTTPS_PROXY, which towhook does not use by itself`,
      'Set SERVICE_PROXY_URL to the address of the proxy.',
    );
  }
  return notes.fault(
    'service_unreachable',
    what,
    'Check host and port of SERVICE_BASE_URL, name resolution, and firewalls. If calls leave your network through a proxy alone: set SERVICE_PROXY_URL.',
  );
}

function tlsFault(cause: string, what: string): Finding {
  const trouble = tlsTroubleOf(cause);
  if (trouble !== null) {
    const [does, fix] = TLS_TROUBLES[trouble];
    return notes.fault(`service_${trouble}`, `${does} (${cause.replaceAll('_', ' ')})`, `${fix} SERVICE_BASE_URL.`);
  }
  if (cause.includes('altname')) {
    const fix = 'Check that SERVICE_BASE_URL has the name that the certificate of the service is for.';
    return notes.fault('service_certificate_wrong', `its certificate is for another name: ${what}`, fix);
  }
  if (/cert_(has_expired|not_yet_valid)/.test(cause)) {
    const fix = 'Check the clock of this machine. If it is right, the administration of the service must renew it.';
    return notes.fault('service_certificate_expired', `its certificate is not valid now: ${what}`, fix);
  }
  const fix = 'Check the port of SERVICE_BASE_URL, and firewalls and proxies that look into TLS.';
  return notes.fault('service_tls_failed', `no TLS connection is made: ${what}`, fix);
}

function refusalMeaning(
  { httpStatus, message, isJson }: Extract<Exchange, { kind: 'refused' }>,
  tokenUrl: string,
): Finding {
  const said = message ? `: ${message}` : '';
  if (httpStatus === 401 || httpStatus === 403) {
    const what = `does not accept the credentials (${httpStatus}${said})`;
    if (/expire/i.test(message ?? '')) {
      const fix = `They were right and are no longer: ask the administration of the service to renew them, and set ${CREDENTIALS}.`;
      return notes.fault('service_credentials_expired', what, fix);
    }
    return notes.fault('service_credentials_wrong', what, `Check ${CREDENTIALS}; ask its administration for new ones.`);
  }
  if (httpStatus === 404 || httpStatus === 405 || httpStatus < 400 || (httpStatus < 500 && !isJson)) {
    return notes.fault(
      'service_address_wrong',
      `has nothing at ${tokenUrl} (${httpStatus})`,
      'SERVICE_BASE_URL must carry the whole path prefix of the service, such as https://host/prefix; paths are appended to it. If the token call alone has another address, set it in SERVICE_PATHS.',
    );
  }
  if (httpStatus === 429) {
    return notes.warning(
      'service_limits',
      'says too many calls',
      'Try again in a minute; lower BUDGET_AUTH_PER_MINUTE.',
    );
  }
  if (httpStatus >= 500) {
    const fix = 'Nothing to fix here: reports wait and are sent when it is back. Ask its administration if it lasts.';
    return notes.fault('service_failing', `answers ${httpStatus}${said}`, fix);
  }
  return notes.fault('service_refuses', `answers ${httpStatus}${said}`, `Check SERVICE_BASE_URL, ${CREDENTIALS}.`);
}
