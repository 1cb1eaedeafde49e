import { sourceOf } from '../../src/platform/connections';

it.each([
  ['an IPv4 address', '192.0.2.7', '192.0.2.7'],
  ['an IPv4 address in IPv6 notation', '::ffff:192.0.2.7', '192.0.2.7'],
  ['an IPv4 address with a port', '192.0.2.7:50000', '192.0.2.7'],
  ['an IPv6 address with a port', '[2001:db8:1:2::1]:50000', '2001:db8:1:2::/64'],
  ['an IPv6 address in brackets', '[2001:db8:1:2::1]', '2001:db8:1:2::/64'],
  ['an address that is none', 'proxy.example', 'unknown'],
  ['no address', undefined, 'unknown'],
])('gives %s its source', (_what, address, source) => {
  expect(sourceOf(address)).toBe(source);
});

it('counts all IPv6 addresses of one /64 network as one source, and those of another network as another', () => {
  const one = sourceOf('2001:db8:1:2::1');
  expect(sourceOf('2001:db8:1:2:ffff:ffff:ffff:ffff')).toBe(one);
  expect(sourceOf('2001:db8:1:3::1')).not.toBe(one);
});
