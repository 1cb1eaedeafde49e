import type { lookup } from 'node:dns';
import { storedSubscription } from '../../src/domain/ops/subscriptions';
import { brokenAddressRule, createSubscriber } from '../../src/notify/subscriber';
import { systemClock } from '../../src/platform/clock';

/** Addresses that are never contacted, not even to see them refused: names are resolved by a stub. */

const MESSAGE = { id: 'id', type: 'test', timestamp: '2026-03-10T12:00:00.000Z', data: {} };
const subscriptionTo = (url: string) =>
  storedSubscription.parse({
    id: 's1',
    name: 'dispatch',
    url,
    include: 'reference',
    createdAt: '2026-03-10T12:00:00.000Z',
    secret: `whsec_${Buffer.alloc(24, 1).toString('base64')}`,
  });

const PRIVATE = [
  '169.254.169.254',
  '127.0.0.1',
  '10.0.0.1',
  '192.168.7.7',
  '100.64.0.1',
  '0.0.0.0',
  '::1',
  '::',
  '::ffff:10.0.0.1',
  '::ffff:127.0.0.1',
  'fe80::1',
  'fd00::1',
  '64:ff9b::a00:1',
];

test.each(PRIVATE)('refuses the address %s with a sentence', (address) => {
  const host = address.includes(':') ? `[${address}]` : address;
  expect(brokenAddressRule(`https://${host}/x`, { allowsPrivate: false })).toMatch(/^must not be the address/);
  expect(brokenAddressRule(`https://${host}/x`, { allowsPrivate: true })).toBeNull();
});

test.each(['2130706433', '0x7f.1', '0177.0.0.1', '127.1'])('refuses %s, another form of 127.0.0.1', (host) => {
  expect(brokenAddressRule(`https://${host}/x`, { allowsPrivate: false })).toMatch(/^must not be the address/);
});

test.each([
  ['http://receiver.example/', false, 'must be an https:// address'],
  ['http://receiver.example/', true, null],
  ['ftp://receiver.example/', true, 'must be an https:// address'],
  ['receiver.example', false, 'must be an https:// address'],
  ['https://user:secret@receiver.example/', false, 'must not contain a user or a password'],
  ['https://receiver.example/changes?x=1', false, null],
  ['https://8.8.8.8/', false, null],
])('judges %s with private addresses %s: %s', (url, allowsPrivate, rule) => {
  expect(brokenAddressRule(url, { allowsPrivate })).toBe(rule);
});

test.each(PRIVATE)('a name that resolves to %s is not connected to', async (address) => {
  const family = address.includes(':') ? 6 : 4;
  const stub = (_name: string, _options: object, callback: (error: null, found: object[]) => void) =>
    // A public address beside it does not help.
    callback(null, [
      { address: '8.8.8.8', family: 4 },
      { address, family },
    ]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Of its overloads only this one is called.
  const resolve = stub as unknown as typeof lookup;
  const send = createSubscriber({ allowsPrivate: false, proxyUrl: null, clock: systemClock, resolve });
  expect(await send(subscriptionTo('https://receiver.example/x'), MESSAGE)).toMatchObject({
    isAccepted: false,
    httpStatus: null,
    problem: 'private_address',
  });
});

test('an address that was entered before the setting changed is not connected to', async () => {
  const send = createSubscriber({ allowsPrivate: false, proxyUrl: null, clock: systemClock });
  expect(await send(subscriptionTo('https://127.0.0.1:1/x'), MESSAGE)).toMatchObject({ problem: 'private_address' });
});
