import { WEBHOOK_READERS } from '../../src/contracts/webhook/read-webhook';
import { useApp } from '../support/app';
import { linesOf } from '../support/captured-log';
import { useOwnRedis } from '../support/redis';
import { bodyOf, deliver, deliveriesIn, keysIn, towRequest } from './calls';

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

describe('receiver: log of a webhook broken in many fields', () => {
  const redis = useOwnRedis();

  it('accepts a webhook that is broken in more than 70,000 fields and writes one short line about it', async () => {
    const { body, faults } = brokenWebhook(LIMIT_BYTES);
    expect(faults).toBeGreaterThan(70_000);
    const lines = await linesOf({ redisUrl: redis.url, role: 'receiver', environment }, async (app) => {
      await deliver(app.receiverUrl, '/tow-request', body).expect(200);
    });
    const answered = lines.filter((line) => line.includes('"delivery.answered"'));
    expect(answered).toHaveLength(1);
    expect(answered[0]?.length).toBeLessThan(1000);
  });

  it('names 20 short rules of such a webhook when it is read', () => {
    const { body } = brokenWebhook(LIMIT_BYTES);
    const read = WEBHOOK_READERS.tow_request(body);
    expect(read.kind === 'differs' && read.rules).toHaveLength(20);
    expect(JSON.stringify({ ...read, rest: null }).length).toBeLessThan(5000);
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
    expect(await keysIn(app.redis)).toEqual([]);
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
