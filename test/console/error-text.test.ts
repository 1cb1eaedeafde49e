import { LANGUAGES, messagesIn } from '../../src/console/messages';
import { causeOf } from '../../src/console/parts/error-text';
import { messageOf } from '../../src/domain/outbox/exchange-message';
import { DROPPED_CAUSES, type Exchange } from '../../src/domain/service/policy';
import { connectionTask } from '../../src/domain/ops/tasks';
import { answerHead, towAfter } from '../operator/world';
import { useApp } from '../support/app';
import { openGeneral } from './task-world';
import { textIn } from './tow-world';
import { signedIn, textOf } from './visitor';

const app = useApp({ role: 'console' });
const { codes } = messagesIn('en').causes;

test.each(LANGUAGES)(
  'pages of a tow show the cause of a missing answer as a sentence of the language "%s"',
  async (language) => {
    const { causes } = messagesIn(language);
    const ref = await towAfter(app, 'started');
    await answerHead(app, ref, 'retry', { kind: 'surely_not_sent', cause: 'connection_refused' });
    const visitor = await signedIn(app);
    visitor.cookies.set('towhook_language', language);
    const [tow, board] = [await visitor.get(`/tows/${ref}`), await visitor.get('/board')];

    expect(textOf(board.html)).toContain(causes.codes.connection_refused);
    expect(textOf(board.html)).not.toContain('connection_refused');
    expect(textIn(tow.html, 'tow-why')).toContain(causes.codes.connection_refused);
    expect(textIn(tow.html, 'tow-why')).not.toContain('connection_refused');
    expect(textOf(tow.html)).toContain(`${causes.codes.connection_refused} ( connection_refused )`);
  },
);

test.each([
  ['connection_refused', codes.connection_refused],
  ['timeout', codes.timeout],
  ['tls_cert_has_expired', codes.tls],
  ['tls_err_ssl_wrong_version_number', codes.tls_missing],
  ['token_tls_err_ssl_tlsv1_alert_protocol_version', `towhook cannot sign in: ${codes.tls_old}`],
  ['proxy_http_407', codes.proxy],
  ['token_http_401', codes.token_refused],
  ['token_connection_refused', `towhook cannot sign in: ${codes.connection_refused}`],
  ['token_encoding_aws-chunked', `towhook cannot sign in: ${codes.encoding}`],
  ['unreadable_cr_expected', codes.unreadable],
  ['token_unreadable_header_overflow', `towhook cannot sign in: ${codes.unreadable_header_overflow}`],
  ['eproto', codes.failed],
  ['the worker was lost while sending', codes.worker_lost],
])('the code "%s" of a call without an answer reads "%s"', (message, text) => {
  expect(causeOf(messagesIn('en'), { http_status: null, message })).toEqual({ text, code: message });
});

test.each<[Exchange, string]>([
  [{ kind: 'not_the_service', httpStatus: 200, cause: 'not_json' }, codes.not_the_service],
  [{ kind: 'contract_broken', httpStatus: 200, issues: ['data: is required'] }, codes.contract_broken],
])('the message that is stored about the answer %j has a sentence', (exchange, text) => {
  const message = messageOf(exchange);
  const status = 'httpStatus' in exchange ? exchange.httpStatus : null;
  expect(causeOf(messagesIn('en'), { http_status: status, message })).toEqual({ text, code: message });
});

test.each(DROPPED_CAUSES)('a call that was not sent for the cause "%s" has a sentence of its own', (cause) => {
  const message = messageOf({ kind: 'dropped', cause, notBeforeMs: null });
  expect(causeOf(messagesIn('en'), { http_status: null, message })).toEqual({ text: codes[cause], code: cause });
});

test.each(LANGUAGES)('the code in the task of a lost connection is folded in language "%s"', async (language) => {
  await openGeneral(app, connectionTask('token_connection_refused', 'token call'));
  const visitor = await signedIn(app);
  visitor.cookies.set('towhook_language', language);
  const { html } = await visitor.get('/tasks');
  expect(html).toContain('token_connection_refused');
  expect(html.replaceAll(/<details[^>]*>.*?<\/details>/gs, '')).not.toContain('token_connection_refused');
});

test('keeps a message of the service as it is, even one that looks like a code', () => {
  expect(causeOf(messagesIn('en'), { http_status: 400, message: 'timeout' })).toBeNull();
  expect(causeOf(messagesIn('en'), { http_status: null, message: 'Zone not found' })).toBeNull();
});
