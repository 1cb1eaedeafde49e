import { useApp } from '../support/app';
import { bodyOf, deliver, deliveriesIn, keysIn, towInvoice, towRequest } from './calls';

const app = useApp({ role: 'receiver' });

const WEBHOOKS = [
  ['/tow-request', towRequest],
  ['/tow/invoice', towInvoice],
] as const;

const field = 'towing_reference_id';

describe('receiver: towing_reference_id', () => {
  it.each([
    ['of 201 characters', 'x'.repeat(201), 'must be at most 200 characters'],
    ['with a line feed', 'TW-1\nTW-2\nTW-3', 'must not contain control characters'],
    ['with NUL', 'TW-1\u0000', 'must not contain control characters'],
    ['with a control character above ASCII', 'TW-1\u0085', 'must not contain control characters'],
    ['with a lone surrogate', 'TW-\ud800', 'must be well-formed Unicode text'],
    ['of one dot', '.', 'must not be "." or ".."'],
    ['of two dots', '..', 'must not be "." or ".."'],
  ])('answers a reference %s with 400 and stores nothing', async (_text, value, rule) => {
    for (const [path, webhookOf] of WEBHOOKS) {
      const body = JSON.stringify(webhookOf({ [field]: value }));
      const response = await deliver(app.receiverUrl, path, body, { 'webhook-id': 'msg_1' }).expect(400);
      expect(bodyOf(response)).toMatchObject({ code: 'contract_broken', details: [{ field, rule }] });
      expect(await keysIn(app.redis)).toEqual([]);
      // The refused webhook has taken no delivery key.
      await deliver(app.receiverUrl, path, webhookOf(), { 'webhook-id': 'msg_1' }).expect(200, { code: 'accepted' });
      await app.redis.ask('FLUSHDB');
    }
  });

  it.each([
    ['200 characters', 'x'.repeat(200)],
    ['an emoji and Arabic letters', 'قطر 7/٣ 🚗'],
    ['three dots', '...'],
    ['spaces and separators', ' TW/1:2?#{towhook-main}%2e '],
  ])('accepts a reference of %s', async (_text, value) => {
    for (const [path, webhookOf] of WEBHOOKS) {
      await deliver(app.receiverUrl, path, webhookOf({ [field]: value })).expect(200, { code: 'accepted' });
    }
    expect(await deliveriesIn(app.foundation)).toHaveLength(2);
  });
});
