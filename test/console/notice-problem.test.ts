import { LANGUAGES, messagesIn } from '../../src/console/messages';
import { noticeProblemText } from '../../src/console/parts/alarm-text';
import { systemClock } from '../../src/platform/clock';
import { createNotificationStore } from '../../src/store/ops/notification-record';
import { useApp } from '../support/app';
import { SIGNING_SECRET } from '../support/notifications';
import { signedIn, textOf } from './visitor';

const app = useApp({
  role: 'console',
  environment: { NOTIFY_WEBHOOK_SECRET: SIGNING_SECRET, NOTIFY_WEBHOOK_URL: 'https://notices.example/' },
});

test.each([
  ['http_500', 'the server answered HTTP 500'],
  ['timeout', 'the server did not answer in time'],
  ['UND_ERR_CONNECT_TIMEOUT', 'the server did not answer in time'],
  ['EAI_AGAIN', 'the address of the server was not found'],
  ['ECONNREFUSED', 'the server refused the connection'],
  ['ECONNECTION_421', 'the connection to the server broke off'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'no secure connection to the server could be made'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'no secure connection to the server could be made'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'no secure connection to the server could be made'],
  ['EAUTH_535', 'the mail server does not accept the user name and password'],
  ['EENVELOPE_550', 'the mail server does not accept the sender or the addresses'],
  ['ESOCKET', 'the connection to the server failed'],
  ['refused_1_addresses', 'the mail server refused 1 address; the others got the message'],
  ['refused_2_addresses', 'the mail server refused 2 addresses; the others got the message'],
  ['not_configured', 'the channel is not configured'],
  ['not_sent', 'the message could not be sent'],
  ['ELATER', 'the message could not be sent'],
])('says in words why notices with the code %s do not arrive', (code, text) => {
  expect(noticeProblemText(messagesIn('en'), code)).toBe(text);
});

test.each(LANGUAGES)('the pages of alarms and notifications say in "%s" why a channel fails', async (language) => {
  const { notifications } = messagesIn(language);
  const store = createNotificationStore(app.foundation.redis);
  const webhook = { deliveredAtMs: null, failingSinceMs: systemClock.nowMs() - 3_600_000, problem: 'ECONNREFUSED' };
  await store.advance((state) => ({ ...state, channels: { ...state.channels, webhook } }));
  const visitor = await signedIn(app);
  visitor.cookies.set('towhook_language', language);

  const cause = notifications.causes.connection_refused;
  const shown = textOf((await visitor.get('/ops/notifications')).html);
  expect(shown).toContain(`${cause} ( ECONNREFUSED )`);
  const alarms = textOf((await visitor.get('/ops')).html);
  expect(alarms).toContain(`(${cause})`);
  expect(alarms).not.toContain('ECONNREFUSED');
});
