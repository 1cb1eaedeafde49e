import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { verify } from '../../src/receiver/verify';
import { anyText } from '../support/any-text';

/** The reference implementation of Standard Webhooks judges the same call. */
function referenceAccepts(body: string, headers: Record<string, string>, secrets: readonly string[]): boolean {
  return secrets.some((secret) => {
    try {
      new Webhook(secret).verify(body, headers, { jsonParse: false });
      return true;
    } catch {
      return false;
    }
  });
}

/** Both implementations see the same time, to compare them at the very ends of the tolerance. */
const NOW_MS = 1_795_000_000_999;
beforeEach(() => {
  jest.spyOn(Date, 'now').mockReturnValue(NOW_MS);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const secretOf = (bytes: number) => `whsec_${randomBytes(bytes).toString('base64')}`;
const SECRETS = [secretOf(24), secretOf(25), secretOf(64)];
const STRANGE = secretOf(24);

const bodies = anyText(40).map((text) => text.toWellFormed());
const ids = fc.oneof(fc.constantFrom('msg_1', 'msg.1.2', 'é'), fc.stringMatching(/^[!-~]{1,20}$/));
const secondsOff = fc.oneof(fc.integer({ min: -300, max: 300 }), fc.constantFrom(-301, -300, 300, 301, 86_400));
const damages = fc.constantFrom<(signature: string) => string>(
  (signature) => signature,
  (signature) => `v1,${'A'.repeat(43)}= ${signature} v1a,x`,
  (signature) => `${signature},more`,
  (signature) => signature.replace('v1,', 'v2,'),
  (signature) => signature.replace('v1,', 'v1 '),
  (signature) => signature.slice(0, -1),
  (signature) => `${signature}=`,
  (signature) => signature.toLowerCase(),
  (signature) => signature.replace(',', ', '),
  () => 'v1',
  () => 'v1,',
);
const timestamps = fc.constantFrom<(timestamp: string) => string>(
  (timestamp) => timestamp,
  (timestamp) => `${timestamp}.9`,
  (timestamp) => ` ${timestamp}x`,
  (timestamp) => `0${timestamp}`,
  (timestamp) => `${timestamp}0`,
  () => 'now',
);

test('accepts exactly the signed webhooks that the reference implementation accepts', () => {
  let accepted = 0;
  const calls = fc.record({
    body: bodies,
    id: ids,
    off: secondsOff,
    damage: damages,
    timestamp: timestamps,
    signer: fc.constantFrom(...SECRETS, STRANGE),
    secrets: fc.subarray(SECRETS, { minLength: 1 }),
    isBodyChanged: fc.boolean(),
  });
  fc.assert(
    fc.property(calls, ({ body, id, off, damage, timestamp, signer, secrets, isBodyChanged }) => {
      const seconds = Math.floor(NOW_MS / 1000) + off;
      const signature = new Webhook(signer).sign(id, new Date(seconds * 1000), body);
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': timestamp(String(seconds)),
        'webhook-signature': damage(signature),
      };
      const received = isBodyChanged ? `${body} ` : body;
      const expected = referenceAccepts(received, headers, secrets);
      const call = { rawBody: Buffer.from(received), headers, nowMs: NOW_MS };
      expect(verify(call, { secrets, sharedSecret: null }).kind).toBe(expected ? 'verified' : 'rejected');
      accepted += expected ? 1 : 0;
    }),
    { numRuns: 5000 },
  );
  expect(accepted).toBeGreaterThan(100);
});

test('rejects every webhook under a secret without a usable key, also when it is signed with an empty key', () => {
  const body = '{}';
  for (const secret of ['whsec_', 'whsec_!!!!', 'whsec_====']) {
    const timestamp = Math.floor(NOW_MS / 1000);
    const signature = new Webhook(new Uint8Array(1), { format: 'raw' }).sign('m', new Date(timestamp * 1000), body);
    const headers = { 'webhook-id': 'm', 'webhook-timestamp': String(timestamp), 'webhook-signature': signature };
    const call = { rawBody: Buffer.from(body), headers, nowMs: NOW_MS };
    expect(verify(call, { secrets: [secret], sharedSecret: null }).kind).toBe('rejected');
  }
});
