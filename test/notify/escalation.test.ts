import { alarmPage, notificationsView, testNoticeView } from '../../src/contracts/notifications';
import { START_HOLD_MS } from '../../src/domain/notices';
import { api } from '../operator/client';
import { startApp, type App } from '../support/app';
import { eventually } from '../support/eventually';
import { CA_FILE, mailServer } from '../support/mail-server';
import { useRedis } from '../support/redis';
import { lookAfter } from './look-after';

const CHIEF = 'chief@towing.example';
const redis = useRedis();
let mail: Awaited<ReturnType<typeof mailServer>>;
let app: App;

/** Mails go to escalations alone. Without a worker an alarm holds. */
beforeEach(async () => {
  mail = await mailServer();
  const environment = {
    NOTIFY_SMTP_URL: `smtp://localhost:${mail.port}`,
    NOTIFY_SMTP_CA_FILE: CA_FILE,
    NOTIFY_MAIL_FROM: 'towhook@towing.example',
    NOTIFY_ESCALATE_TO: CHIEF,
    NOTIFY_ESCALATE_MINUTES: '15',
  };
  app = await startApp({ redisUrl: redis.url, role: 'console', environment });
});
afterEach(() => app.stop());

/** The alarm about the missing worker, as the API has it. */
const missingWorker = async () =>
  alarmPage
    .parse((await api(app).get('/api/alarms').expect(200)).body)
    .items.find(({ title }) => title.includes('worker'));

test('with NOTIFY_ESCALATE_TO alone an alarm that is not acknowledged in time is mailed there, and its start is not', async () => {
  await lookAfter(app, START_HOLD_MS);
  expect(mail.mails).toEqual([]);
  expect(await missingWorker()).toMatchObject({ announced_at: null, escalated_at: null });
  await lookAfter(app, 15 * 60_000);
  await eventually(() => expect(mail.mails.length).toBeGreaterThan(0));
  const escalated = await missingWorker();
  expect(escalated).toMatchObject({ announced_at: null });
  expect(escalated?.escalated_at).toMatch(/^\d{4}-/);
  for (const { to } of mail.mails) expect(to).toEqual([CHIEF]);
});

test('with NOTIFY_ESCALATE_TO alone mails are in use, and a test notice goes there', async () => {
  const { channels } = notificationsView.parse((await api(app).get('/api/notifications').expect(200)).body);
  expect(channels.mail).toMatchObject({ is_used: true, missing: [] });
  const tested = await api(app).post('/api/notifications/test').send({ channel: 'mail' }).expect(200);
  expect(testNoticeView.parse(tested.body)).toEqual({ delivered: true, problem: null });
  expect(mail.mails.map(({ to }) => to)).toEqual([[CHIEF]]);
});
