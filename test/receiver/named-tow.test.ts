import { WEBHOOK_READERS } from '../../src/contracts/webhook/read-webhook';
import { namedTow, readCall } from '../../src/receiver/read-call';

const read = (body: string) =>
  readCall('tow_request', Buffer.from(body), { verified: true, signatureId: null, signedAtMs: null });
const towIn = (body: string): string | null => {
  const call = read(body);
  return call.kind === 'delivery' ? call.delivery.towingReferenceId : null;
};

/** Bodies that name their tow in another place than documented. */
const ELSEWHERE: readonly (readonly [place: string, body: string, tow: string])[] = [
  ['in data', '{"code":200,"data":{"towing_reference_id":"TW-1"}}', 'TW-1'],
  ['in camel case', '{"towingReferenceId":"TW-1"}', 'TW-1'],
  ['in camel case in data', '{"data":{"towingReferenceId":"TW-1"}}', 'TW-1'],
  ['in the only item of a list', '[{"towing_reference_id":"TW-1"}]', 'TW-1'],
  ['in an item of a list in data', '{"data":[{"other":1},{"towing_reference_id":"TW-1"}]}', 'TW-1'],
  ['as digits beyond 2^53 in data', '{"data":{"towing_reference_id":90071992547409931}}', '90071992547409931'],
  ['in data, with null in the documented place', '{"towing_reference_id":null,"data":{"towingReferenceId":"T"}}', 'T'],
  ['after a byte order mark', '\uFEFF{"towingReferenceId":"TW-1"}', 'TW-1'],
  ['twice in a list, where the first one counts', '[{"towing_reference_id":"A"},{"towing_reference_id":"B"}]', 'A'],
];

test.each(ELSEWHERE)('a webhook that names its tow %s is stored under it and breaks the contract', (_, body, tow) => {
  expect(towIn(body)).toBe(tow);
  expect(WEBHOOK_READERS.tow_request(body)).toMatchObject({ kind: 'differs', rest: null });
});

test('the documented place counts before every other one', () => {
  expect(towIn('{"data":{"towing_reference_id":"B"},"towingReferenceId":"C","towing_reference_id":"A"}')).toBe('A');
});

test.each([
  '[]',
  '[1,"TW-1"]',
  '{"data":"TW-1","violationReferenceId":"V-1"}',
  '{"metadata":{"towing_reference_id":"TW-1"}}',
  '{"towingReferenceId":1.5}',
])('no tow is guessed from %s', (body) => {
  expect(read(body)).toMatchObject({ kind: 'broken', code: 'contract_broken' });
});

test.each<[string, string, string | null]>([
  ['at place 1,000 is found', '{},'.repeat(999), 'TW-1'],
  ['at place 1,001 is not looked for', '{},'.repeat(1000), null],
  ['after 1,000 items that are no objects is not looked for', '1,'.repeat(1000), null],
])('a tow %s: a list of the allowed size would stop the receiver for a second', (_what, before, tow) => {
  expect(towIn(`[${before}{"towing_reference_id":"TW-1"}]`)).toBe(tow);
});

test('two webhooks that differ in the digits of a large number in data are two deliveries', () => {
  const ids = ['90071992547409931', '90071992547409932'].map((number) => {
    const call = read(`{"data":{"towing_reference_id":"TW-1","number":${number}}}`);
    return call.kind === 'delivery' ? call.delivery.id : null;
  });
  expect(new Set(ids).size).toBe(2);
  expect(ids).not.toContain(null);
});

test.each([
  ['lists', '['.repeat(60_000) + ']'.repeat(60_000)],
  ['data', '{"data":'.repeat(15_000) + 'null' + '}'.repeat(15_000)],
])('a message nested as deep as it is long, in %s, names no tow', (_what, text) => {
  const message: unknown = JSON.parse(text);
  expect(namedTow(message, text)).toBeNull();
});
