import { storedDelivery } from '../../src/domain/webhook/delivery';
import { decodeEntry, encodeEntry } from '../../src/store/outbox/entry-fields';

const STORED = { seq: 1, id: 'started-1', kind: 'started', createdAtMs: 1, body: {} };
const DELIVERY = { id: 'd-1', kind: 'tow_request', towingReferenceId: 'T1', rawBody: '{}', state: 'processed' };

const encodedAgain = (stored: object): unknown => JSON.parse(encodeEntry(decodeEntry(JSON.stringify(stored))));

test('keeps an unknown field of an entry, also one of its late answer', () => {
  const lateAnswer = { answer: null, rawBody: '{}', deliveredAtMs: 2, added: 'later' };
  const stored = { ...STORED, another: ['of another version'], lateAnswer };
  expect(encodedAgain(stored)).toEqual(stored);
});

test('keeps values of an entry that only another version knows', () => {
  const stored = {
    ...STORED,
    waitsFor: 'daylight',
    hint: 'perhaps_elsewhere',
    acceptedHow: 'proved_by_photo',
    log: [{ attempt_id: 'a1', outcome: 'answered_twice' }],
  };
  expect(decodeEntry(JSON.stringify(stored))).toMatchObject(stored);
  expect(encodedAgain(stored)).toEqual(stored);
});

test.each(['waitsFor', 'hint', 'acceptedHow'])('refuses a stored entry whose %s is no text', (name) => {
  expect(() => decodeEntry(JSON.stringify({ ...STORED, [name]: 7 }))).toThrow(name);
});

test.each([
  ['none yet', {}, null],
  ['none yet, as a replay leaves it', { verdict: '' }, null],
  ['a known one', { verdict: 'created' }, 'created'],
  ['one of another version', { verdict: 'forwarded' }, 'forwarded'],
])('reads the verdict of a delivery: %s', (_which, stored, verdict) => {
  expect(storedDelivery.parse({ ...DELIVERY, receivedAtMs: '1', ...stored }).verdict).toBe(verdict);
});
