import * as fc from 'fast-check';
import { WEBHOOKS } from '../../../src/contracts/webhook/webhooks';
import { DELIVERY_KINDS, type DeliveryKind } from '../../../src/domain/vocabulary';
import { systemClock } from '../../../src/platform/clock';
import { readCall } from '../../../src/receiver/read-call';
import { verify } from '../../../src/receiver/verify';
import { signed } from '../../receiver/calls';
import { edited, editedText, perhapsEdits, type Edit } from '../bytes';
import { messagesOf } from '../from-schema';
import { bulkyJson, hostileText } from '../hostile';
import { judgeReceiver } from '../judge';
import { FUZZ_SECRETS, KNOWN_TOWS, WEBHOOK_LIMIT_BYTES, type FuzzedProduct } from '../product';
import { createTarget } from '../target';

/** Webhook calls on both paths: their bodies and their headers. */

interface WebhookInput {
  readonly kind: DeliveryKind;
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

const FIELDS_MAX = 20;

const reference = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 4999 }).map((number) => `TW-20261120-F${number}`) },
  { weight: 2, arbitrary: fc.constantFrom(...KNOWN_TOWS) },
  hostileText,
);
const known = { towing_reference_id: reference, violation_reference_id: reference };

const messages: Readonly<Record<DeliveryKind, fc.Arbitrary<unknown>>> = {
  tow_request: messagesOf(WEBHOOKS.tow_request.body, known),
  tow_invoice: messagesOf(WEBHOOKS.tow_invoice.body, known),
};

/** The start of an object with the required fields of a kind, or of its metadata. */
const start = (kind: DeliveryKind) =>
  fc.tuple(fc.integer({ min: 0, max: 4999 }), fc.constantFrom('', '"metadata":{')).map(([number, inner]) => {
    const refs = `{"violation_reference_id":"V-1","towing_reference_id":"TW-20261120-B${number}",`;
    return `${refs}${kind === 'tow_invoice' ? '"towing_invoice":{"total_amount":1},' : ''}${inner}`;
  });

const bodies = (kind: DeliveryKind): fc.Arbitrary<Buffer> =>
  fc.oneof(
    {
      weight: 60,
      arbitrary: fc
        .tuple(messages[kind], perhapsEdits)
        .map(([message, changes]) => edited(Buffer.from(JSON.stringify(message) ?? ''), changes)),
    },
    { weight: 8, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: bulkyJson(WEBHOOK_LIMIT_BYTES, start(kind)) },
    {
      weight: 1,
      arbitrary: fc.tuple(bulkyJson(4000, start(kind)), perhapsEdits).map(([body, changes]) => edited(body, changes)),
    },
  );

const headers: fc.Arbitrary<Record<string, string>> = fc
  .tuple(
    fc.constantFrom(
      'application/json',
      'application/json; charset=utf-8',
      'APPLICATION/JSON',
      'text/plain',
      'application/json;',
    ),
    fc.constantFrom('webhook-id', 'svix-id', 'content-encoding', 'transfer', 'accept', 'x-forwarded-for', 'cookie'),
    fc.oneof(hostileText, fc.constantFrom('msg_1', 'gzip', 'identity', 'x'.repeat(8000))),
    fc.oneof({ weight: 5, arbitrary: fc.constant<readonly Edit[]>([]) }, perhapsEdits),
  )
  .map(([type, name, value, changes]) => ({ 'content-type': editedText(type, changes), [name]: value }));

const inputs: fc.Arbitrary<WebhookInput> = fc.oneof(
  ...DELIVERY_KINDS.map((kind) =>
    fc.record({
      kind: fc.constant(kind),
      body: bodies(kind),
      headers: fc.oneof({ weight: 4, arbitrary: fc.constant({ 'content-type': 'application/json' }) }, headers),
    }),
  ),
);

export const webhookTarget = createTarget<WebhookInput>({
  name: 'webhook',
  share: 0.25,
  inputs,
  direct({ kind, body, headers }) {
    if (body.length > WEBHOOK_LIMIT_BYTES) return null;
    const verification = verify(
      { rawBody: body, headers, nowMs: systemClock.nowMs() },
      { secrets: [], sharedSecret: null },
    );
    if (verification.kind !== 'unverified') return `a call without secrets to check is ${verification.kind}`;
    const call = readCall(kind, body, { ...verification, verified: false });
    if (call.kind === 'foreign') return null;
    if (call.kind === 'broken') {
      const { length } = call.details;
      return length >= 1 && length <= FIELDS_MAX + 1 ? null : `a refusal lists ${length} fields`;
    }
    return /^dlv_[0-9a-f]{40}$/.test(call.delivery.id) ? null : `a delivery is called ${call.delivery.id}`;
  },
  async send({ kind, body, headers }, { receiverUrl, http }: FuzzedProduct, again) {
    const id = again === 0 ? 'msg_fuzz' : `msg_fuzz_${again}`;
    const signature =
      kind === 'tow_invoice' ? signed(body, { secret: FUZZ_SECRETS[0], id }) : again === 0 ? {} : { 'webhook-id': id };
    return judgeReceiver(
      await http.send(receiverUrl, {
        method: 'POST',
        path: WEBHOOKS[kind].path,
        headers: { ...headers, ...signature },
        body,
      }),
    );
  },
});
