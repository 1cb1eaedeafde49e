import { dirname, join } from 'node:path';
import { mailTextIn } from '../../src/console/parts/alarm-text';
import type { Notice } from '../../src/domain/ops/notices';
import type { NoticeLanguage } from '../../src/domain/ops/notification-settings';
import { createMailSender } from '../../src/notify/mail';
import { CA_FILE, mailServer } from '../support/mail-server';
import { NO_RECEIVER, startNotice } from '../support/notifications';
import { PROJECT } from '../support/project';

/** A certificate that has not signed the one of the mail server. */
const OTHER_FILE = join(dirname(CA_FILE), 'client.pem');

interface SendOptions {
  readonly to?: readonly string[];
  readonly caFile?: string | null;
  readonly language?: NoticeLanguage;
}

function send(smtpUrl: string, { to = ['one@towing.example'], caFile = CA_FILE, language = 'en' }: SendOptions = {}) {
  const sender = createMailSender({ smtpUrl, from: 'towhook@towing.example', caFile }, (notice, textLanguage) =>
    mailTextIn(notice, { language: textLanguage, consoleUrl: null }),
  );
  return sender.send(startNotice({ channel: 'mail' }), { ...NO_RECEIVER, mailTo: to, language });
}

test('sends a mail over STARTTLS with user and password, and the id of the notice as its Message-ID', async () => {
  const { mails, port } = await mailServer();
  const to = ['one@towing.example', 'two@towing.example'];
  expect(await send(`smtp://alarms:p%40ss@localhost:${port}`, { to })).toEqual({ kind: 'delivered', problem: null });
  expect(mails).toMatchObject([{ to, user: 'alarms', isSecure: true }]);
  const { text = '' } = mails[0] ?? {};
  expect(text).toContain('Message-ID: <a1.started@towing.example>');
  expect(text).toContain('Subject: towhook: The service is down.');
  expect(text).toContain('Auto-Submitted: auto-generated');
  expect(text).toContain('Problem: The service is down.\r\nWhat to do: Wait.\r\nSince 22 Nov, 09:00 (Riyadh)');
});

test('shows a reminder with the start of its alarm', async () => {
  const { mails, port } = await mailServer();
  const server = { smtpUrl: `smtp://localhost:${port}`, from: 'towhook@towing.example', caFile: CA_FILE };
  const sender = createMailSender(server, () => ({ subject: 'An alarm', text: 'What to do.' }));
  const settings = { ...NO_RECEIVER, mailTo: ['one@towing.example'] };
  for (const id of ['a1.started', 'a1.reminded.7']) await sender.send(startNotice({ channel: 'mail', id }), settings);
  expect(mails.map(({ text }) => text.includes('References: <a1.started@towing.example>'))).toEqual([false, true]);
});

test('has a link to the page of the notice when the address of the console is known', () => {
  const consoleUrl = 'https://console.towing.example';
  const textOf = (notice: Notice, url: string | null) => mailTextIn(notice, { language: 'en', consoleUrl: url }).text;
  expect(textOf(startNotice(), consoleUrl)).toMatch(/alarms:\nhttps:\/\/console\.towing\.example\/ops$/);
  expect(textOf(startNotice({ type: 'test', alarm: null }), consoleUrl)).toMatch(/example\/ops\/notifications$/);
  expect(textOf(startNotice(), null)).toMatch(/alarms on the page \/ops of the console\.$/);
});

test('sends a mail over TLS from the start, in Arabic', async () => {
  const { mails, port } = await mailServer({ secure: true });
  const sent = await send(`smtps://alarms:p%40ss@localhost:${port}`, { language: 'ar' });
  expect(sent).toEqual({ kind: 'delivered', problem: null });
  const [, body = ''] = (mails[0]?.text ?? '').split('\r\n\r\n');
  expect(Buffer.from(body, 'base64').toString()).toContain('ما العمل:');
});

test('never sends a password without TLS, and names what failed by a code without addresses', async () => {
  const plain = await mailServer({ disabledCommands: ['STARTTLS'] });
  const unencrypted = await send(`smtp://alarms:p%40ss@localhost:${plain.port}`);
  expect(unencrypted.kind).toBe('failed');
  expect(unencrypted.problem).toMatch(/^ETLS/);
  expect(plain.mails).toEqual([]);
  const { port } = await mailServer();
  expect(await send(`smtp://alarms:wrong@localhost:${port}`)).toEqual({ kind: 'failed', problem: 'EAUTH_535' });
  const toRefused = { to: ['one@refused.example'] };
  expect(await send(`smtp://localhost:${port}`, toRefused)).toEqual({ kind: 'failed', problem: 'EENVELOPE_550' });
  const untrusted = await send(`smtp://alarms:p%40ss@localhost:${port}`, { caFile: null });
  const absent = await send('smtp://127.0.0.1:1');
  for (const { kind, problem } of [untrusted, absent]) {
    expect(kind).toBe('failed');
    expect(problem).toMatch(/^[A-Z_]+$/);
  }
});

test('trusts an authority in NODE_EXTRA_CA_CERTS when NOTIFY_SMTP_CA_FILE has another one', async () => {
  const { port } = await mailServer();
  const sendNow = () => send(`smtp://alarms:p%40ss@localhost:${port}`, { caFile: OTHER_FILE });
  expect((await sendNow()).kind).toBe('failed');
  process.env['NODE_EXTRA_CA_CERTS'] = CA_FILE;
  try {
    expect((await sendNow()).kind).toBe('delivered');
  } finally {
    delete process.env['NODE_EXTRA_CA_CERTS'];
  }
});

test('uses no login without a password, and reports the number of addresses that the server refused', async () => {
  const { mails, port } = await mailServer({ disabledCommands: ['STARTTLS'] });
  const sent = await send(`smtp://localhost:${port}`, { to: ['one@towing.example', 'two@refused.example'] });
  expect(sent).toEqual({ kind: 'delivered', problem: 'refused_1_addresses' });
  expect(mails).toMatchObject([{ to: ['one@towing.example'], isSecure: false }]);
});

test.each([
  ['is absent', join(PROJECT, 'absent.pem'), 'NOTIFY_SMTP_CA_FILE names a file that cannot be read (ENOENT)'],
  ['is a folder', PROJECT, 'NOTIFY_SMTP_CA_FILE names a file that cannot be read (EISDIR)'],
  ['has no certificates', __filename, 'NOTIFY_SMTP_CA_FILE names a file without a PEM block "CERTIFICATE"'],
])('refuses a file of authorities that %s, and names the cause', (_what, caFile, message) => {
  const settings = { smtpUrl: 'smtp://localhost', from: 'towhook@towing.example', caFile };
  expect(() => createMailSender(settings, () => ({ subject: '', text: '' }))).toThrow(message);
});
