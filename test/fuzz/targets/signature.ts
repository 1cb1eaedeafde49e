import { createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { loadConfig, ConfigurationError } from '../../../src/platform/config/config';
import { systemClock } from '../../../src/platform/clock';
import { verify, type Verification, type VerifySettings } from '../../../src/receiver/verify';
import { signed } from '../../receiver/calls';
import { edited, edits, editedText, perhapsEdits, type Edit } from '../bytes';
import { hostileText } from '../hostile';
import { judgeReceiver } from '../judge';
import { FUZZ_SECRETS } from '../product';
import { createTarget } from '../target';

/**
 * Signed calls, changed somewhere: in a header, in the body, in the secret. A call that is verified must carry a
 * signature of one of the secrets over exactly these bytes; a call that was not changed must be verified.
 */

interface SignatureInput {
  readonly body: Buffer;
  readonly family: 'webhook' | 'svix';
  readonly secret: number;
  readonly offSeconds: number;
  readonly id: string;
  /** What is changed after the signing, by the part that it changes. */
  readonly changes: Readonly<Record<'id' | 'timestamp' | 'signature' | 'body', readonly Edit[]>>;
  /** Another signature, placed before the real one in the list. */
  readonly otherSignature: string | null;
  /** A secret from configuration text, in few inputs only, because reading a configuration is slow. */
  readonly configured: string | null;
}

/** A signature may be this old or this far in the future. */
const TOLERANCE_S = 300;

const SHARED_SECRET = { header: 'x-shared', values: ['a shared secret of the fuzzer'] };

const none = fc.constant<readonly Edit[]>([]);
const oneIn = (count: number, arbitrary: fc.Arbitrary<readonly Edit[]>) =>
  fc.oneof({ weight: count - 1, arbitrary: none }, { weight: 1, arbitrary });

/** An edit of the bytes that does not change the decoded text. */
const sameText: readonly Edit[] = [{ kind: 'replace', at: 0.5, length: 3, bytes: Buffer.from([0xff]) }];

const inputs: fc.Arbitrary<SignatureInput> = fc.record({
  body: fc.oneof(
    fc.constantFrom(
      ...[
        '{"violation_reference_id":"V-1","towing_reference_id":"TW-1","towing_invoice":{"total_amount":115}}',
        '',
        '{}',
        '{"a":"\ufffd"}',
        '\ufeff{}',
        'é'.repeat(50),
      ].map((text) => Buffer.from(text)),
    ),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  ),
  family: fc.constantFrom('webhook' as const, 'svix' as const),
  secret: fc.nat(2),
  offSeconds: fc.oneof(
    { weight: 5, arbitrary: fc.constant(0) },
    fc.integer({ min: -700, max: 700 }),
    fc.constantFrom(-1e9, 1e9, 1e12),
  ),
  id: fc.oneof({ weight: 3, arbitrary: fc.constantFrom('msg_1', 'a.b', '1.2.3') }, hostileText),
  changes: fc.record({
    id: oneIn(6, edits),
    timestamp: oneIn(6, edits),
    signature: oneIn(4, edits),
    body: oneIn(5, fc.oneof(edits, fc.constant(sameText))),
  }),
  otherSignature: fc.option(
    fc.oneof(hostileText, fc.constantFrom('v1,', 'v1', 'v2,AAAA', 'v1,AAAA', ','.repeat(500), 'v1,x '.repeat(300))),
  ),
  configured: fc.oneof(
    { weight: 20, arbitrary: fc.constant(null) },
    fc
      .tuple(fc.constantFrom(...FUZZ_SECRETS, 'whsec_', 'whsec_AA=='), perhapsEdits)
      .map(([secret, changes]) => editedText(secret, changes)),
  ),
});

interface Sent {
  readonly body: Buffer;
  readonly headers: Record<string, string>;
  readonly isChanged: boolean;
}

function sentCall({ body, family, secret, offSeconds, id, changes, otherSignature }: SignatureInput): Sent {
  const signedHeaders = signed(body, {
    secret: FUZZ_SECRETS[secret] ?? `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
    id,
    offSeconds,
    family,
  });
  const headers: Record<string, string> = {};
  for (const part of ['id', 'timestamp', 'signature'] as const) {
    const name = `${family}-${part}`;
    headers[name] = editedText(signedHeaders[name] ?? '', changes[part]);
  }
  const signature = `${family}-signature`;
  if (otherSignature !== null) headers[signature] = `${otherSignature} ${headers[signature] ?? ''}`;
  const sentBody = edited(body, changes.body);
  const isChanged = Object.values(changes).some(({ length }) => length > 0);
  return { body: sentBody, headers, isChanged };
}

/** True when a header carries a signature of a secret over exactly these bytes, at an accepted time. */
function isSigned({ body, headers }: Sent, family: SignatureInput['family']): boolean {
  const [id = '', timestamp = '', list = ''] = ['id', 'timestamp', 'signature'].map(
    (part) => headers[`${family}-${part}`],
  );
  const seconds = Number.parseInt(timestamp, 10);
  if (Number.isNaN(seconds) || Math.abs(Date.now() / 1000 - seconds) > TOLERANCE_S + 5) return false;
  return FUZZ_SECRETS.some((secret) => {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    const expected = createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest('base64');
    // Text after a second comma is not part of a signature (Standard Webhooks).
    return list.split(' ').some((one) => one.split(',').slice(0, 2).join(',') === `v1,${expected}`);
  });
}

/** True for an unchanged call with a plain id, as real senders make it. */
function isAsSigned({ otherSignature, offSeconds, id }: SignatureInput, { isChanged }: Sent): boolean {
  const isPlain = /^[\x21-\x7e]+$/.test(id);
  return !isChanged && otherSignature === null && Math.abs(offSeconds) < TOLERANCE_S - 5 && isPlain;
}

function judged({ body, headers }: Pick<Sent, 'body' | 'headers'>, settings: VerifySettings): Verification {
  return verify({ rawBody: body, headers, nowMs: systemClock.nowMs() }, settings);
}

function configurationProblem(secret: string): string | null {
  try {
    const { secrets } = loadConfig({ WEBHOOK_SECRETS: secret }).webhook;
    const call = { body: Buffer.from('{}'), headers: signed('{}', { secret: FUZZ_SECRETS[0] }) };
    judged(call, { secrets: secrets.tow_request, sharedSecret: null });
    return null;
  } catch (error) {
    return error instanceof ConfigurationError ? null : `a configured secret throws ${String(error)}`;
  }
}

export const signatureTarget = createTarget<SignatureInput>({
  name: 'signature',
  share: 0.15,
  inputs,
  direct(input) {
    const sent = sentCall(input);
    const { kind } = judged(sent, { secrets: FUZZ_SECRETS, sharedSecret: null });
    const proof = isSigned(sent, input.family);
    if (kind === 'verified' && !proof) return 'a call that no secret has signed is verified';
    if (kind !== 'verified' && proof && isAsSigned(input, sent)) return `a call as it was signed is ${kind}`;
    const given = input.otherSignature ?? 'v1,';
    const withShared = { body: sent.body, headers: { 'x-shared': given } };
    const shared = judged(withShared, { secrets: [], sharedSecret: SHARED_SECRET });
    if (shared.kind !== 'rejected') return `a call with another shared secret is ${shared.kind}`;
    return input.configured === null ? null : configurationProblem(input.configured);
  },
  async send(input, { receiverUrl, http }) {
    const { body, headers } = sentCall(input);
    const response = await http.send(receiverUrl, {
      method: 'POST',
      path: '/tow/invoice',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    return judgeReceiver(response);
  },
});
