import { linesOf } from '../support/captured-log';
import { useRedis } from '../support/redis';
import { newSecret, post, signed, towInvoice, towRequest } from './calls';

const redis = useRedis();
const secret = newSecret();

/** What people and companies would not want in a log; every call below carries them all. */
const PRIVATE = ['PLATE-7777', 'Fahd-Ibn', '0551234567', 'INV-1', '300000000000003'];
const names = { id: 'PLATE-7777', driver: 'Fahd-Ibn', mobile: '0551234567' };

/** The lines a receiver writes about these calls, at the most talkative level. */
function linesAbout(calls: (receiverUrl: string) => Promise<unknown>, environment = {}): Promise<string[]> {
  return linesOf({ redisUrl: redis.url, role: 'receiver', environment }, (app) => calls(app.receiverUrl));
}

function expectNothingPrivate(lines: readonly string[]): void {
  for (const word of PRIVATE) expect(lines.filter((line) => line.includes(word))).toEqual([]);
}

it('a call that was taken is logged by its references and not by its content', async () => {
  const lines = await linesAbout(async (url) => {
    await post(url, '/tow-request', towRequest({ metadata: names, ...names }));
    await post(url, '/tow-request', towRequest({ metadata: names, ...names }));
    await post(url, '/tow/invoice', towInvoice({ metadata: names }));
  });
  const answered = lines.filter((line) => line.includes('"delivery.answered"'));
  expect(answered).toHaveLength(3);
  for (const line of answered) expect(line).toContain('TW-20261120-9F4D1A');
  expectNothingPrivate(lines);
});

it('a call that broke the contract is logged by its fields and rules and not by its content', async () => {
  const lines = await linesAbout(async (url) => {
    await post(url, '/tow-request', towRequest({ metadata: 'PLATE-7777', violation_reference_id: [names] }));
    await post(url, '/tow-request', `{"plate": "PLATE-7777", ${JSON.stringify(names)}`);
    await post(url, '/tow/invoice', towInvoice({ towing_invoice: { tax: '0551234567', total_amount: [names] } }));
    await post(url, '/tow-request', towRequest(names), { 'content-type': 'text/plain' });
  });
  expect(lines.filter((line) => line.includes('"http_status":400'))).toHaveLength(3);
  expect(lines.some((line) => line.includes('towing_invoice.total_amount'))).toBe(true);
  expectNothingPrivate(lines);
});

it('a field name that the sender chose is content too', async () => {
  const lines = await linesAbout(async (url) => {
    const body = JSON.stringify(towRequest({ metadata: { 'PLATE-7777': 'HUGE' } })).replace('"HUGE"', '1e999');
    await post(url, '/tow-request', body);
  });
  expect(lines.filter((line) => line.includes('"delivery.answered"'))).toHaveLength(1);
  expectNothingPrivate(lines);
});

it('a call that could not be verified is logged without its content, its signature and our secret', async () => {
  const body = JSON.stringify(towRequest({ metadata: names }));
  const headers = signed(body, { secret: newSecret() });
  const lines = await linesAbout((url) => post(url, '/tow-request', body, headers), { WEBHOOK_SECRETS: secret });
  expect(lines.filter((line) => line.includes('"http_status":401'))).toHaveLength(1);
  expectNothingPrivate(lines);
  const text = lines.join('\n');
  expect(text).not.toContain(secret.slice('whsec_'.length));
  expect(text).not.toContain((headers['webhook-signature'] ?? '').slice('v1,'.length));
});

it('a call that could not be stored is logged without its content', async () => {
  const lines = await linesAbout(async (url) => {
    await redis.ask('CONFIG', 'SET', 'maxmemory', '100kb');
    try {
      await post(url, '/tow-request', towRequest({ metadata: names }));
      await post(url, '/tow-request', towRequest({ metadata: 'PLATE-7777' }));
    } finally {
      await redis.ask('CONFIG', 'SET', 'maxmemory', '0');
    }
  });
  expect(lines.filter((line) => line.includes('"http_status":503'))).toHaveLength(1);
  expectNothingPrivate(lines);
});
