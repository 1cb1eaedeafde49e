import type { OddDay } from './odd-day';
import type { RecordedExchange } from '../support/recorder';

type Proof = (day: OddDay) => readonly unknown[];

const toService =
  (matches: (call: RecordedExchange) => boolean): Proof =>
  ({ calls }) =>
    calls.filter(matches);
const toOperator =
  (matches: (webhook: RecordedExchange) => boolean): Proof =>
  ({ webhooks }) =>
    webhooks.filter(matches);

const isAccepted = ({ status }: RecordedExchange) => status >= 200 && status < 300;
const answers = (pattern: RegExp) => toService((call) => isAccepted(call) && pattern.test(call.answer));
const webhookBody = (path: string, pattern: RegExp) =>
  toOperator((webhook) => webhook.path.endsWith(path) && pattern.test(webhook.body));
const hasPath = (path: string) => toService((call) => call.path === `/odd${path}` && isAccepted(call));

/** Webhooks of one path whose `key` came more than once. */
function repeated(path: string, key: (webhook: RecordedExchange) => string): Proof {
  return ({ webhooks }) => {
    const keys = webhooks.filter((webhook) => webhook.path.endsWith(path)).map(key);
    return keys.filter((one, index) => keys.indexOf(one) !== index);
  };
}

const towOf = ({ body }: RecordedExchange) => /"towing_reference_id":"?(\w+)/.exec(body)?.[1] ?? '';
const idOf = ({ headers }: RecordedExchange) => String(headers['webhook-id']);

/** How the service of the day differs from docs/service-api.md, and what on the wire proves that it did. */
export const ODD_DIFFERENCES: readonly (readonly [difference: string, proof: Proof])[] = [
  ['the token call has another path', hasPath('/oauth/operator-token')],
  ['status updates have other paths', hasPath('/v2/tows/started')],
  ['the invoice request has another path', hasPath('/v2/billing/tow-invoices')],
  ['the token is in access_token, without an envelope', answers(/^\{"access_token":/)],
  ['the token in the answer begins with Bearer', answers(/"access_token":"Bearer /)],
  ['the token is no JWT', toService(({ headers }) => /^Bearer op_\w+$/.test(headers.authorization ?? ''))],
  ['a token ends before its time', toService(({ status, path }) => status === 401 && !path.includes('/oauth/'))],
  ['a reference operation answers without an envelope', answers(/^\{"towing_reference_id":/)],
  ['code is text', answers(/^\{"code":"200"/)],
  ['message is null', answers(/"message":null/)],
  ['an answer has no body', toService(({ status, answer }) => status === 200 && answer === '')],
  ['a status update is answered 201', toService(({ status, path }) => status === 201 && path.endsWith('/started'))],
  ['a status update is answered 202', toService(({ status }) => status === 202)],
  ['a payment is answered 204', toService(({ status }) => status === 204)],
  ['a refusal is a 200 with its status as code', answers(/^\{"code":"400","message":"Invalid enum value"/)],
  ['an error has its message in an object', toService(({ answer }) => answer.startsWith('{"error":{"code":500'))],
  ['answers are text/json', toService(({ answerHeaders }) => answerHeaders['content-type'] === 'text/json')],
  ['answers have references as numbers', answers(/"towing_reference_id":\d+/)],
  ['answers have metadata as JSON text', answers(/"metadata":"\{/)],
  ['answers have fields that are not documented', answers(/"server_node":/)],
  ['the answer to a violation has no status', answers(/"violation_reference_id":(?!.*"status":)/)],
  ['the answer to an invoice has no delay_invoice', answers(/"towing_invoice":(?!.*"delay_invoice":)/)],
  ['answers have amounts as text', answers(/"total_amount":"345\.00"/)],
  [
    'answers name a rate limit with its end in ms',
    toService(({ answerHeaders }) => /^\d{13}$/.test(String(answerHeaders['x-ratelimit-reset']))),
  ],
  [
    'a 429 has Retry-After as a date',
    toService(({ status, answerHeaders }) => status === 429 && (answerHeaders['retry-after'] ?? '').endsWith(' GMT')),
  ],
  ['an answer takes long', toService(({ durationMs }) => durationMs >= 300)],
  ['webhooks have a path prefix', webhookBody('/partners/parking/tow-request', /./)],
  ['webhooks begin with a byte order mark', webhookBody('/tow-request', /^\uFEFF\{/)],
  [
    'webhooks name their character set',
    toOperator(({ headers }) => headers['content-type'] === 'application/json; charset=utf-8'),
  ],
  ['webhooks have references as numbers', webhookBody('/tow-request', /"towing_reference_id":\d+/)],
  ['webhooks have metadata as JSON text', webhookBody('/tow-request', /"metadata":"\{/)],
  ['webhooks break the contract', webhookBody('/tow-request', /"metadata":\[/)],
  ['webhooks have fields that are not documented', webhookBody('/tow-request', /"server_node":/)],
  ['amounts have separators', webhookBody('/tow/invoice', /"total_amount":"1,150\.00"/)],
  ['an invoice webhook has no delay_invoice', webhookBody('/tow/invoice', /^(?!.*"delay_invoice":)/)],
  ['a webhook comes twice', repeated('/tow-request', idOf)],
  ['a tow request comes again under another id', repeated('/tow-request', towOf)],
  ['events of other kinds come', toOperator(({ path }) => path.endsWith('/tickets/created'))],
  [
    'an invoice comes before its tow request',
    ({ webhooks }) => {
      const kinds = webhooks.filter((one) => towOf(one) !== '').map((one) => ({ tow: towOf(one), path: one.path }));
      const isFirst = ({ tow }: { tow: string }, index: number) => kinds.findIndex((one) => one.tow === tow) === index;
      return kinds.filter((one, index) => one.path.endsWith('/tow/invoice') && isFirst(one, index));
    },
  ],
];
