import { loadConfig } from '../../src/platform/config/config';
import { faultsOf } from './config-errors';

describe('the limits of the settings of notifications', () => {
  const mailAddresses = (count: number) => Array.from({ length: count }, (_, at) => `a${at}@b.example`).join(',');
  const longMailAddress = (length: number) => '@b.example'.padStart(length, 'a');
  const longUrl = (length: number) => 'https://b.example/'.padEnd(length, 'a');

  test.each([
    ['NOTIFY_WEBHOOK_URL', 'of 2001 characters', longUrl(2001), 'must be at most 2000 characters'],
    ['NOTIFY_MAIL_TO', 'with 21 addresses', mailAddresses(21), 'must be at most 20 items'],
    ['NOTIFY_MAIL_TO', 'with a long address', longMailAddress(255), 'must be mail addresses of at most 254 characters'],
  ])('%s %s is refused', (variable, _case, value, rule) => {
    expect(faultsOf({ [variable]: value })).toEqual([{ variable, rule }]);
  });

  test('values at the limits are accepted', () => {
    const { settings } = loadConfig({
      NOTIFY_WEBHOOK_URL: longUrl(2000),
      NOTIFY_WEBHOOK_SECRET: 'whsec_AAAA',
      NOTIFY_SMTP_URL: 'smtp://mail.example',
      NOTIFY_MAIL_FROM: 'a@b.example',
      NOTIFY_MAIL_TO: mailAddresses(20),
      NOTIFY_REMIND_HOURS: '720',
    }).notifications;

    expect(settings).toMatchObject({ webhookUrl: longUrl(2000), remindMs: 720 * 3_600_000 });
    expect(settings.mailTo).toHaveLength(20);
  });

  test.each([
    ['NOTIFY_WEBHOOK_URL', 'https://a.example', 'NOTIFY_WEBHOOK_SECRET'],
    ['NOTIFY_MAIL_TO', 'a@b.example', 'NOTIFY_SMTP_URL'],
    ['NOTIFY_SMTP_URL', 'smtp://mail.example', 'NOTIFY_MAIL_FROM'],
    ['NOTIFY_MAIL_FROM', 'a@b.example', 'NOTIFY_SMTP_URL'],
    ['NOTIFY_SMTP_CA_FILE', 'mail.pem', 'NOTIFY_SMTP_URL'],
  ])('%s needs another variable of the notifications', (variable, value, other) => {
    expect(faultsOf({ [variable]: value })).toEqual([{ variable: other, rule: `is required with ${variable}` }]);
  });
});
