import { Agent as PlainAgent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { lookup as lookUp, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { HttpsProxyAgent } from 'https-proxy-agent';
import ipaddr from 'ipaddr.js';
import { notBeforeMs } from '../domain/outbox/backoff';
import type { Subscription } from '../domain/ops/subscriptions';
import type { Clock } from '../platform/clock';
import { webhookSignature } from '../platform/webhook-signature';
import type { SendChange } from '../workflow/ops/subscriptions';
import { postJson } from './post';

/** Posts changes to the receivers of subscriptions, signed as Standard Webhooks. */

export interface SubscriberOptions {
  /** Whether receivers may have private addresses, and http:// ones. */
  readonly allowsPrivate: boolean;
  /** HTTP proxy, which then judges the addresses; null for none. */
  readonly proxyUrl: string | null;
  readonly clock: Clock;
  /** Of the tests. */
  readonly resolve?: typeof lookUp;
}

/** The code of an address that is not connected to. */
const PRIVATE_ADDRESS = 'private_address';

/** Whether an address is on the public internet: not of this machine, a private network, a link or a cloud. */
export function isPublicAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast';
}

/** The rule that the address of a receiver breaks; null when it may be used. Its name is judged when it is resolved. */
export function brokenAddressRule(
  url: string,
  { allowsPrivate }: Pick<SubscriberOptions, 'allowsPrivate'>,
): string | null {
  if (!URL.canParse(url)) return 'must be an https:// address';
  const { protocol, hostname, username, password } = new URL(url);
  const isSecure = protocol === 'https:';
  if (!isSecure && !(allowsPrivate && protocol === 'http:')) return 'must be an https:// address';
  if (username + password !== '') return 'must not contain a user or a password';
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (allowsPrivate || isIP(host) === 0 || isPublicAddress(host)) return null;
  return 'must not be the address of this machine, a private network, a link or a cloud (SUBSCRIPTION_PRIVATE_ADDRESSES)';
}

/** @throws Error for a proxy that is no address */
export function createSubscriber(options: SubscriberOptions): SendChange {
  const agents = agentsOf(options);
  const { clock } = options;
  return async (subscription, { id, ...message }) => {
    const broken = brokenAddressRule(subscription.url, options);
    if (broken !== null) return { isAccepted: false, httpStatus: null, problem: PRIVATE_ADDRESS, notBeforeMs: null };
    const body = JSON.stringify(message);
    const nowMs = clock.nowMs();
    const timestamp = Math.floor(nowMs / 1000);
    const answer = await postJson(subscription.url, body, {
      ...agents,
      headers: {
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signaturesOf(subscription, { id, timestamp, body }, nowMs),
      },
    });
    const { problem, httpStatus } = answer;
    if (problem === null) return { isAccepted: true, httpStatus };
    const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);
    const asked = { retryAfter: textOf(answer.headers['retry-after']), rateLimitReset: undefined };
    const date = textOf(answer.headers['date']);
    return { isAccepted: false, httpStatus, problem, notBeforeMs: notBeforeMs(asked, { nowMs, date }) };
  };
}

/** The signature of the secret; during a rotation also that of the one before. */
function signaturesOf(
  { secret, previous }: Subscription,
  content: Parameters<typeof webhookSignature>[0],
  nowMs: number,
): string {
  const valid = previous !== null && previous.validUntilMs > nowMs ? [secret, previous.secret] : [secret];
  return valid.map((each) => `v1,${webhookSignature(content, each) ?? ''}`).join(' ');
}

function agentsOf({ allowsPrivate, proxyUrl, resolve = lookUp }: SubscriberOptions) {
  if (proxyUrl !== null) {
    const agent = new HttpsProxyAgent(proxyUrl);
    return { httpAgent: agent, httpsAgent: agent };
  }
  const options = allowsPrivate ? {} : { lookup: publicLookup(resolve) };
  return { httpAgent: new PlainAgent(options), httpsAgent: new SecureAgent(options) };
}

/** Resolves a name to its addresses; fails before any connection if one of them is not public. */
function publicLookup(resolve: typeof lookUp): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      const [first] = error ? [] : found;
      if (error || !first) return callback(error, '');
      if (!found.every(({ address }) => isPublicAddress(address))) {
        return callback(Object.assign(new Error('a private address'), { code: PRIVATE_ADDRESS }), '');
      }
      if (options.all === true) return callback(null, found);
      return callback(null, first.address, first.family);
    });
  };
}
