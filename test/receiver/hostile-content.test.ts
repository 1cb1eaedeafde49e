import { KEYS } from '../../src/store/keys';
import { useApp } from '../support/app';
import { linesOf } from '../support/captured-log';
import { useOwnRedis } from '../support/redis';
import { bodyOf, deliver, deliveriesIn, keysIn, quarantinedIn, towRequest } from './calls';

const LIMIT_BYTES = 1_048_576;
const environment = { WEBHOOK_BODY_LIMIT_BYTES: String(LIMIT_BYTES) };

/** A tow request whose metadata breaks the contract in as many fields as fit into a body of this many bytes. */
function brokenWebhook(bytes: number): { readonly body: string; readonly faults: number } {
  const fields: string[] = [];
  for (let length = 200; length < bytes; length += fields.at(-1)?.length ?? 0) fields.push(`"${fields.length}":1e999,`);
  const metadata = `{${fields.join('')}"id":"patrol-17"}`;
  return {
    body: JSON.stringify(towRequest({ metadata: 'FIELDS' })).replace('"FIELDS"', metadata),
    faults: fields.length,
  };
}

function nested(levels: number): string {
  const inner = `${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}`;
  return JSON.stringify(towRequest({ metadata: 'DEEP' })).replace('"DEEP"', `{"a":${inner}}`);
}

describe('receiver: webhook broken in many fields', () => {
  const app = useApp({ role: 'receiver', environment });

  it('names at most 20 of the failing fields in the answer and in quarantine, and counts the others', async () => {
    const { body, faults } = brokenWebhook(LIMIT_BYTES);
    expect(faults).toBeGreaterThan(70_000);
    const response = await deliver(app.receiverUrl, '/tow-request', body).expect(400);
    const { details = [] } = bodyOf(response);
    expect(details).toHaveLength(21);
    expect(details[0]).toEqual({ field: 'metadata.0', rule: 'must be a finite number' });
    expect(details.at(-1)).toEqual({ field: 'body', rule: `and ${faults - 20} more` });
    expect(response.text.length).toBeLessThan(5000);
    expect(await quarantinedIn(app.foundation)).toMatchObject([{ details }]);
    expect(await app.redis.ask('MEMORY', 'USAGE', KEYS.quarantine)).toBeLessThan(200_000);
  });

  it('shortens the names of failing fields that the sender chose', async () => {
    const long = 'x'.repeat(20_000);
    const fields = Array.from({ length: 20 }, (_, at) => `"${at}${long}":{"${long}":1e999}`);
    const body = `${JSON.stringify(towRequest()).slice(0, -1)},${fields.join(',')}}`;
    const response = await deliver(app.receiverUrl, '/tow-request', body).expect(400);
    expect(bodyOf(response).details).toHaveLength(20);
    expect(response.text.length).toBeLessThan(20_000);
    expect((await quarantinedIn(app.foundation))[0]?.details).toEqual(bodyOf(response).details);
  });
});

describe('receiver: log of a webhook broken in many fields', () => {
  const redis = useOwnRedis();

  it('writes one short line about a webhook that is broken in more than 70,000 fields', async () => {
    const { body } = brokenWebhook(LIMIT_BYTES);
    const lines = await linesOf({ redisUrl: redis.url, role: 'receiver', environment }, async (app) => {
      await deliver(app.receiverUrl, '/tow-request', body).expect(400);
    });
    const answered = lines.filter((line) => line.includes('"delivery.answered"'));
    expect(answered).toHaveLength(1);
    expect(answered[0]?.length).toBeLessThan(5000);
    expect(answered[0]).toMatch(/and \d+ more/);
  });
});

describe('receiver: nesting and text of a webhook', () => {
  const app = useApp({ role: 'receiver' });

  it('accepts a webhook of 32 levels and answers one of 33 levels with 400', async () => {
    await deliver(app.receiverUrl, '/tow-request', nested(32)).expect(200);
    const response = await deliver(app.receiverUrl, '/tow-request', nested(33)).expect(400);
    expect(bodyOf(response).details).toEqual([{ field: 'body', rule: 'is nested too deeply' }]);
  });

  it('answers two bodies that differ only in bytes that are not UTF-8 with 400 instead of taking one for the other', async () => {
    // A lone surrogate, written as UTF-8 would write it if it could; decoders replace both alike.
    for (const last of [0x80, 0x81]) {
      const [before = '', after = ''] = JSON.stringify(towRequest({ metadata: { id: 'SPLIT' } })).split('SPLIT');
      const body = Buffer.concat([Buffer.from(before), Buffer.from([0xed, 0xa0, last]), Buffer.from(after)]);
      const response = await deliver(app.receiverUrl, '/tow-request', body);
      expect([response.status, bodyOf(response)]).toMatchObject([
        400,
        { code: 'not_json', details: [{ field: 'body', rule: 'must be JSON in UTF-8' }] },
      ]);
    }
    expect(await keysIn(app.redis)).toEqual([KEYS.quarantine]);
  });

  it('stores two bodies that differ only in an escaped lone surrogate as two deliveries', async () => {
    for (const id of ['a\ud800', 'a\ud801']) {
      await deliver(app.receiverUrl, '/tow-request', towRequest({ metadata: { id } })).expect(200, {
        code: 'accepted',
      });
    }
    expect(await deliveriesIn(app.foundation)).toHaveLength(2);
  });
});
