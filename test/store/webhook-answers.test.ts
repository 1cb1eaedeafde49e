import type { WebhookPath } from '../../src/domain/webhook-answers';
import { DAY_MS, HOUR_MS } from '../../src/domain/timestamp';
import { KEYS } from '../../src/store/keys';
import { createWebhookAnswerStore } from '../../src/store/webhook-answers';
import { useStores, type Stores } from '../support/stores';

let stores: Stores;
useStores((opened) => {
  stores = opened;
});

const open = () => createWebhookAnswerStore(stores.redis);
const answered = (path: WebhookPath, also: { refused?: object; hasAccepted?: boolean }) => ({
  path,
  hasAccepted: false,
  refused: {},
  behindSeconds: null,
  isProxied: false,
  ...also,
});
const refuse = (path: WebhookPath) => open().add([answered(path, { refused: { signature_wrong: 1 } })]);
const accept = (path: WebhookPath) => open().add([answered(path, { hasAccepted: true })]);

/** Stores a call that was refused some time ago. */
async function refusedBefore(path: WebhookPath, agoMs: number): Promise<void> {
  const atMs = (await open().read()).readAtMs - agoMs;
  const document = { refused: { address: 3 }, refused_since: atMs - DAY_MS, refused_at: atMs, proxied: true };
  await stores.redis.hset(KEYS.webhookAnswers, path, JSON.stringify(document));
}

const refusedOn = async (path: WebhookPath) => (await open().read()).byPath[path];

test.each(['tow_request', 'tow_invoice', 'other'] as const)(
  'a refused call on the path %s counts with earlier ones until a day has passed without one',
  async (path) => {
    await refusedBefore(path, DAY_MS - HOUR_MS);
    await refuse(path);
    expect((await refusedOn(path)).refused).toEqual({ address: 3, signature_wrong: 1 });

    await refusedBefore(path, DAY_MS + HOUR_MS);
    await refuse(path);

    const { refused, refusedSinceMs, refusedAtMs } = await refusedOn(path);
    expect(refused).toEqual({ signature_wrong: 1 });
    expect(refusedSinceMs).toBe(refusedAtMs);
  },
);

test('refused calls on other paths are counted from the last accepted webhook', async () => {
  await refusedBefore('other', HOUR_MS);
  await refuse('other');
  expect((await refusedOn('other')).refused).toEqual({ address: 3, signature_wrong: 1 });
  await accept('tow_invoice');

  await refuse('other');

  expect((await refusedOn('other')).refused).toEqual({ signature_wrong: 1 });
});

test('refused webhooks on one path are counted on while the other path accepts webhooks', async () => {
  await refuse('tow_request');
  await accept('tow_invoice');
  await refuse('tow_request');

  expect((await refusedOn('tow_request')).refused).toEqual({ signature_wrong: 2 });
});

test('refused calls on other paths are counted on when what was stored for a webhook path has no accepted call', async () => {
  await refuse('tow_request');
  await refuse('other');
  await refuse('other');

  expect((await refusedOn('other')).refused).toEqual({ signature_wrong: 2 });
});
