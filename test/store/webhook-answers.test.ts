import type { WebhookPath } from '../../src/domain/webhook/webhook-answers';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/timestamp';
import { KEYS } from '../../src/store/keys';
import { createWebhookAnswerStore } from '../../src/store/webhook/webhook-answers';
import { privateAccess } from '../../src/store/redis/access';
import { openStores, useStores, type Stores } from '../support/stores';

const stores = useStores();
const redis = stores.server;

const open = (by: Pick<Stores, 'redis'> = stores) => createWebhookAnswerStore(by.redis);
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
  const document = { refused: { address: 3 }, refusedSinceMs: atMs - DAY_MS, refusedAtMs: atMs, isProxied: true };
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

test('receivers that count at the same time lose no refused call and count a minute once', async () => {
  const receivers = await Promise.all(Array.from({ length: 4 }, () => openStores(redis.url)));
  try {
    const rounds = Array.from({ length: 10 }, () => [
      answered('tow_request', { refused: { signature_wrong: 1, not_json: 2 } }),
      answered('tow_invoice', { hasAccepted: true }),
    ]);
    const startedMs = (await open().read()).readAtMs;

    await Promise.all(receivers.flatMap((receiver) => rounds.map((calls) => open(receiver).add(calls))));

    const { byPath, minutesOfHour, readAtMs } = await open().read();
    expect(byPath.tow_request.refused).toEqual({ signature_wrong: 40, not_json: 80 });
    const minutes = Math.floor(readAtMs / MINUTE_MS) - Math.floor(startedMs / MINUTE_MS) + 1;
    const counted = [...minutesOfHour.values()].reduce((sum, count) => sum + count, 0);
    expect(counted).toBeGreaterThanOrEqual(1);
    expect(counted).toBeLessThanOrEqual(minutes);
  } finally {
    receivers.forEach((receiver) => receiver.close());
  }
});

test('hours that are too old to be compared are removed with the next accepted webhook', async () => {
  const hour = Math.floor((await open().read()).readAtMs / HOUR_MS);
  await stores.redis.hset(KEYS.webhookHours, { [hour - 8 * 24]: 7, [hour - 10 * 24]: 7 });

  await accept('tow_request');

  const { minutesOfHour } = await open().read();
  expect(minutesOfHour.get(hour - 8 * 24)).toBe(7);
  expect(minutesOfHour.has(hour - 10 * 24)).toBe(false);
});

test('calls on other paths that are accepted count no minute', async () => {
  await accept('other');
  expect((await open().read()).minutesOfHour.size).toBe(0);
});

test('refused calls are counted after what was stored about them was damaged', async () => {
  await stores.redis.hset(KEYS.webhookAnswers, 'tow_request', '{"refused":');
  await refuse('tow_request');
  expect((await refusedOn('tow_request')).refused).toEqual({ signature_wrong: 1 });
});

test('the count of a reason that only a later version knows is kept', async () => {
  const atMs = (await open().read()).readAtMs;
  const document = { refused: { reason_of_later: 3 }, refusedSinceMs: atMs, refusedAtMs: atMs, isProxied: false };
  await stores.redis.hset(KEYS.webhookAnswers, 'tow_request', JSON.stringify(document));
  await refuse('tow_request');
  expect((await refusedOn('tow_request')).refused).toEqual({ reason_of_later: 3, signature_wrong: 1 });
});

test('refused calls are counted once while replicas are missing', async () => {
  const receiver = await openStores({ ...privateAccess(redis.url, null), minReplicas: 1 });
  try {
    await open(receiver).add([answered('tow_request', { refused: { signature_wrong: 1 } })]);
    expect((await refusedOn('tow_request')).refused).toEqual({ signature_wrong: 1 });
  } finally {
    receiver.close();
  }
});
