import { linesOf } from '../support/captured-log';
import { useOwnRedis } from '../support/redis';
import { deliver, newSecret, signed, towInvoice, towRequest } from './calls';

const redis = useOwnRedis();
const secret = newSecret();

/** Personal and company data. The webhooks below carry it, and no log line may contain it. */
const PRIVATE = ['PLATE-7777', 'Fahd-Ibn', '0551234567', 'INV-1', '300000000000003'];
const names = { id: 'PLATE-7777', driver: 'Fahd-Ibn', mobile: '0551234567' };

/** The log lines of a receiver during these webhooks, at the most verbose level. */
function linesAbout(send: (receiverUrl: string) => PromiseLike<unknown>, environment = {}): Promise<string[]> {
  return linesOf({ redisUrl: redis.url, role: 'receiver', environment }, async (app) => send(app.receiverUrl));
}

function expectNothingPrivate(lines: readonly string[]): void {
  for (const value of PRIVATE) expect(lines.filter((line) => line.includes(value))).toEqual([]);
}

it('logs an accepted webhook by its references, without its content', async () => {
  const lines = await linesAbout(async (url) => {
    await deliver(url, '/tow-request', towRequest({ metadata: names, ...names }));
    await deliver(url, '/tow-request', towRequest({ metadata: names, ...names }));
    await deliver(url, '/tow/invoice', towInvoice({ metadata: names }));
  });
  const answered = lines.filter((line) => line.includes('"delivery.answered"'));
  expect(answered).toHaveLength(3);
  for (const line of answered) expect(line).toContain('TW-20261120-9F4D1A');
  expectNothingPrivate(lines);
});

it('logs an invalid webhook by its failing fields and rules, without its content', async () => {
  const lines = await linesAbout(async (url) => {
    await deliver(url, '/tow-request', towRequest({ metadata: 'PLATE-7777', towing_reference_id: [names] }));
    await deliver(url, '/tow-request', `{"plate": "PLATE-7777", ${JSON.stringify(names)}`);
    await deliver(url, '/tow/invoice', towInvoice({ towing_invoice: { tax: '0551234567', total_amount: [names] } }));
    await deliver(url, '/tow-request', towRequest(names), { 'content-type': 'text/plain' });
  });
  expect(lines.filter((line) => line.includes('"http_status":400'))).toHaveLength(2);
  expect(lines.some((line) => line.includes('towing_reference_id'))).toBe(true);
  expectNothingPrivate(lines);
});

it('does not log a field name that the sender of a webhook chose', async () => {
  const lines = await linesAbout(async (url) => {
    const body = JSON.stringify(towRequest({ metadata: { 'PLATE-7777': 'HUGE' } })).replace('"HUGE"', '1e999');
    await deliver(url, '/tow-request', body);
  });
  expect(lines.filter((line) => line.includes('"delivery.answered"'))).toHaveLength(1);
  expectNothingPrivate(lines);
});

it('logs an unverified webhook without its content, its signature or the signing secret', async () => {
  const body = JSON.stringify(towRequest({ metadata: names }));
  const headers = signed(body, { secret: newSecret() });
  const lines = await linesAbout((url) => deliver(url, '/tow-request', body, headers), { WEBHOOK_SECRETS: secret });
  expect(lines.filter((line) => line.includes('"http_status":401'))).toHaveLength(1);
  expectNothingPrivate(lines);
  const text = lines.join('\n');
  expect(text).not.toContain(secret.slice('whsec_'.length));
  expect(text).not.toContain((headers['webhook-signature'] ?? '').slice('v1,'.length));
});

it('logs a webhook that could not be stored without its content', async () => {
  const lines = await linesAbout(async (url) => {
    await redis.ask('CONFIG', 'SET', 'maxmemory', '100kb');
    try {
      await deliver(url, '/tow-request', towRequest({ metadata: names }));
      await deliver(url, '/tow-request', towRequest({ metadata: 'PLATE-7777' }));
    } finally {
      await redis.ask('CONFIG', 'SET', 'maxmemory', '0');
    }
  });
  expect(lines.filter((line) => line.includes('"http_status":503'))).toHaveLength(1);
  expectNothingPrivate(lines);
});

it('logs forged webhooks once per reason, however many come from one source', async () => {
  const body = JSON.stringify(towRequest());
  const forged = signed(body, { secret: newSecret() });
  const send = (url: string) =>
    Promise.all(
      Array.from({ length: 60 }, (_, at) => deliver(url, '/tow-request', body, at % 2 === 0 ? forged : {}).expect(401)),
    );
  const lines = await linesAbout(send, { WEBHOOK_SECRETS: secret });
  const refused = lines.filter((line) => line.includes('"http_status":401'));
  // A line of each reason every 10 s, should the machine be that slow.
  expect(refused.length).toBeLessThan(10);
  expect(refused.length).toBeGreaterThanOrEqual(2);
  expect(refused.filter((line) => line.includes('"outcome":"signature_wrong","source":"')).length).toBeGreaterThan(0);
});
