import { messagesIn } from '../../src/console/messages';
import { signedIn, textOf } from '../console/visitor';
import { startApp, useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { deliver, newSecret, signed, towRequest } from './calls';

const secret = newSecret();
const app = useApp({ environment: { WEBHOOK_SECRETS: secret } });
const { opsAlarms, webhooks } = messagesIn('en');

const metrics = async () => (await fetch(`${app.opsUrl}/metrics`)).text();
const refused = (kind: string, value: 0 | 1) =>
  `towhook_webhook_alarm{alarm="webhooksRefused",kind="${kind}",installation="main"} ${value}\n`;

const opsPage = async () => textOf((await (await signedIn(app)).get('/ops')).html);

describe('receiver: refused webhooks raise an alarm', () => {
  const body = JSON.stringify(towRequest());

  it.each([
    ['a wrong secret', () => signed(body, { secret: newSecret() }), 'signature_wrong'],
    ['missing signature headers', () => ({}), 'signature_missing'],
    ['a body that was written again', () => signed(JSON.stringify(towRequest(), null, 2), { secret }), 'body_changed'],
  ] as const)('names %s on the operations page with what to do', async (_case, headers, reason) => {
    await deliver(app.receiverUrl, '/tow-request', body, headers()).expect(401);
    const { cause, todo } = webhooks.reasons[reason];
    const title = opsAlarms.webhooksRefused.title({ path: '/tow-request', count: 1, cause });
    await eventually(async () => expect(await opsPage()).toContain(title));
    expect(await opsPage()).toContain(todo);
  });

  it('names the alarm in /readyz and stays ready', async () => {
    const receiver = await startApp({
      redisUrl: app.redis.url,
      role: 'receiver',
      environment: { WEBHOOK_SECRETS: secret },
    });
    try {
      await deliver(receiver.receiverUrl, '/tow/invoice', body).expect(401);
      const alarm = { alarm: 'refused', path: 'tow_invoice', refused: 1, reason: 'signature_missing' };
      await eventually(async () => {
        const ready = await fetch(`${receiver.opsUrl}/readyz`);
        expect([ready.status, await ready.json()]).toMatchObject([200, { webhook_alarms: [alarm] }]);
      });
    } finally {
      await receiver.stop();
    }
  });

  it('names by how many minutes the clocks differ', async () => {
    await deliver(app.receiverUrl, '/tow-request', body, signed(body, { secret, offSeconds: -720 })).expect(401);
    const cause = webhooks.behind({ duration: '12 min' });
    const title = opsAlarms.webhooksRefused.title({ path: '/tow-request', count: 1, cause });
    // The seconds that the call was under way follow.
    const start = title.slice(0, title.indexOf('12 min') + '12 min'.length);
    await eventually(async () => expect(await opsPage()).toContain(start));
  });

  it('ends the alarm with the next accepted webhook and counts it in the metrics', async () => {
    await deliver(app.receiverUrl, '/tow-request', body, signed(body, { secret: newSecret() })).expect(401);
    const holds = (value: 0 | 1) =>
      eventually(async () => expect(await metrics()).toContain(refused('tow_request', value)));
    await holds(1);
    await deliver(app.receiverUrl, '/tow-request', body, signed(body, { secret })).expect(200);
    await holds(0);
    expect(await metrics()).toMatch(
      /^towhook_webhook_answers_total\{kind="tow_request",status="401",outcome="signature_wrong",installation="main"\} [1-9]/m,
    );
  });

  it('tells a refused call of a stranger to another address apart in the metrics', async () => {
    await fetch(`${app.receiverUrl}/login`, { method: 'POST', body: 'x' });
    await eventually(async () => expect(await metrics()).toContain(refused('other', 1)));
    expect(await metrics()).toContain(refused('tow_request', 0));
    expect(await metrics()).toContain(refused('tow_invoice', 0));
  });
});
