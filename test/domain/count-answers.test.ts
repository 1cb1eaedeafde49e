import { countAnswers, hasAcceptedWebhook, NO_ANSWERS } from '../../src/domain/webhook/webhook-answers';
import { DAY_MS } from '../../src/domain/timestamp';
import type { PathAnswers, WebhookPath } from '../../src/domain/webhook/webhook-answers';

const NOW = Date.parse('2026-11-21T12:00:00.000Z');
const NOTHING = { tow_request: NO_ANSWERS, tow_invoice: NO_ANSWERS, other: NO_ANSWERS };

/** Calls on the path of tow requests, by default without an answer. */
const calls = (also: { refused?: PathAnswers['refused']; hasAccepted?: boolean; behindSeconds?: number }) => ({
  path: 'tow_request' as WebhookPath,
  hasAccepted: false,
  refused: {},
  behindSeconds: null,
  isProxied: true,
  ...also,
});
/** What is stored about tow requests after these answers, an hour apart. */
function after(...each: readonly Parameters<typeof calls>[0][]): PathAnswers {
  const hourMs = DAY_MS / 24;
  return each.reduce((stored, also, at) => countAnswers(stored, [calls(also)], NOW + at * hourMs), NOTHING).tow_request;
}

test('counts refused calls by reason and keeps the first and the last of their times', () => {
  expect(after({ refused: { not_json: 1 } }, { refused: { not_json: 2, too_large: 1 } })).toEqual({
    ...NO_ANSWERS,
    refused: { not_json: 3, too_large: 1 },
    refusedSinceMs: NOW,
    refusedAtMs: NOW + DAY_MS / 24,
    isProxied: true,
  });
});

test('an accepted call ends the refused calls before it, and those of the same second count after it', () => {
  const { acceptedAtMs, refused } = after(
    { refused: { not_json: 1 } },
    { hasAccepted: true, refused: { too_large: 1 } },
  );
  expect([acceptedAtMs, refused]).toEqual([NOW + DAY_MS / 24, { too_large: 1 }]);
});

test('keeps how far timestamps are off until a call is accepted', () => {
  const isOff = { refused: { timestamp_off: 1 }, behindSeconds: 400 };
  expect(after(isOff, { refused: { not_json: 1 } }).behindSeconds).toBe(400);
  expect(after(isOff, { hasAccepted: true }).behindSeconds).toBeNull();
});

test('leaves paths without an answer as they are', () => {
  const counted = countAnswers(NOTHING, [calls({ refused: { not_json: 1 } })], NOW);
  expect(counted.other).toBe(NO_ANSWERS);
  expect(countAnswers(NOTHING, [calls({})], NOW)).toEqual(NOTHING);
});

test('an accepted call on another path is no accepted webhook', () => {
  expect(hasAcceptedWebhook([{ ...calls({ hasAccepted: true }), path: 'other' }])).toBe(false);
  expect(hasAcceptedWebhook([calls({ hasAccepted: true })])).toBe(true);
});
