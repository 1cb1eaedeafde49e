import { messagesIn } from '../../src/console/messages';
import { startApp } from '../support/app';
import { noticeReceiver, SIGNING_SECRET } from '../support/notifications';
import { useRedis } from '../support/redis';
import { signedIn, textOf } from './visitor';

const redis = useRedis();

test('shows the channels without their addresses, and what became of a test', async () => {
  const { notifications: messages } = messagesIn('en');
  const receiver = await noticeReceiver();
  const environment = { NOTIFY_WEBHOOK_URL: `${receiver.url}?token=5521`, NOTIFY_WEBHOOK_SECRET: SIGNING_SECRET };
  const app = await startApp({ redisUrl: redis.url, role: 'console', environment });
  try {
    const visitor = await signedIn(app);
    const { html } = await visitor.get('/ops/notifications');
    expect(textOf(html)).toContain('NOTIFY_SMTP_URL, NOTIFY_MAIL_FROM');
    expect(html).not.toMatch(/5521|whsec/);
    const test = async () => textOf((await visitor.post('/ops/notifications/test', { channel: 'webhook' })).html);
    const channel = messages.channels.webhook;
    expect(await test()).toContain(messages.testDelivered({ channel }));
    receiver.answers.status = 500;
    expect(await test()).toContain(messages.testFailed({ channel }));
    expect(receiver.received).toHaveLength(2);
  } finally {
    await app.stop();
    await receiver.close();
  }
});
