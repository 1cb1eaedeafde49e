import { mostlyRefused, refusedWebhooks } from '../../src/domain/webhook/webhook-alarms';
import type { PathAnswers, WebhookPath } from '../../src/domain/webhook/webhook-answers';
import { DAY_MS, MINUTE_MS } from '../../src/domain/timestamp';

const NOW = Date.parse('2026-11-21T03:00:00.000Z');

const nothing: PathAnswers = {
  acceptedAtMs: null,
  refused: {},
  refusedSinceMs: null,
  refusedAtMs: null,
  behindSeconds: null,
  isProxied: false,
};

/** Calls that were refused from a minute ago until now. */
function refusing(refused: PathAnswers['refused'], changes: Partial<PathAnswers> = {}): PathAnswers {
  return { ...nothing, refused, refusedSinceMs: NOW - MINUTE_MS, refusedAtMs: NOW, ...changes };
}

function alarmsOf(answers: Partial<Record<WebhookPath, PathAnswers>>) {
  return refusedWebhooks({ tow_request: nothing, tow_invoice: nothing, other: nothing, ...answers }, NOW);
}
const reasonsOf = (answers: Partial<Record<WebhookPath, PathAnswers>>) => alarmsOf(answers).map(({ reason }) => reason);

describe('the alarm about refused webhooks', () => {
  test('is raised by the first call with a wrong signature, for its path alone', () => {
    expect(alarmsOf({})).toEqual([]);
    expect(alarmsOf({ tow_invoice: refusing({ signature_wrong: 1 }) })).toEqual([
      {
        path: 'tow_invoice',
        count: 1,
        sinceMs: NOW - MINUTE_MS,
        reason: 'signature_wrong',
        behindSeconds: null,
        isProxied: false,
      },
    ]);
  });

  test('is raised by any refused call until the first webhook was accepted, then by more than a stranger makes', () => {
    const acceptedAtMs = NOW - DAY_MS;
    expect(reasonsOf({ tow_request: refusing({ signature_missing: 1 }) })).toEqual(['signature_missing']);
    expect(reasonsOf({ tow_request: refusing({ signature_missing: 2 }, { acceptedAtMs }) })).toEqual([]);
    expect(reasonsOf({ tow_request: refusing({ signature_missing: 3 }, { acceptedAtMs }) })).toEqual([
      'signature_missing',
    ]);
  });

  test('names what proves that the secret is right, then wrong secrets, then the most frequent reason', () => {
    const noise = { signature_missing: 50, content_type: 60 };
    expect(reasonsOf({ tow_request: refusing(noise) })).toEqual(['content_type']);
    expect(reasonsOf({ tow_request: refusing({ ...noise, signature_wrong: 4 }) })).toEqual(['signature_wrong']);
    expect(reasonsOf({ tow_request: refusing({ ...noise, signature_wrong: 4, body_changed: 1 }) })).toEqual([
      'body_changed',
    ]);
  });

  test('names how far the clock is off only if that is the cause', () => {
    const behind = { behindSeconds: 720 };
    expect(alarmsOf({ tow_request: refusing({ timestamp_off: 1 }, behind) })).toMatchObject([behind]);
    expect(alarmsOf({ tow_request: refusing({ signature_wrong: 1 }, behind) })).toMatchObject([
      { behindSeconds: null },
    ]);
  });

  test('ends a day after the last refused call', () => {
    const last = (agoMs: number) => refusing({ signature_wrong: 1 }, { refusedAtMs: NOW - agoMs });
    expect(alarmsOf({ tow_request: last(DAY_MS) })).toHaveLength(1);
    expect(alarmsOf({ tow_request: last(DAY_MS + 1) })).toEqual([]);
  });

  test('ignores calls to other addresses once a webhook was accepted', () => {
    const other = refusing({ address: 100 });
    expect(reasonsOf({ other })).toEqual(['address']);
    expect(reasonsOf({ other, tow_request: { ...nothing, acceptedAtMs: NOW } })).toEqual([]);
    expect(reasonsOf({ other, tow_request: { ...nothing, acceptedAtMs: NOW - DAY_MS } })).toEqual([]);
  });

  test('is raised by signed calls to other addresses until the next webhook is accepted, however old the first refused call is', () => {
    const other = refusing({ signature_wrong: 1, address: 5 }, { refusedSinceMs: NOW - 30 * DAY_MS });
    const accepted = (acceptedAtMs: number) => ({ other, tow_request: { ...nothing, acceptedAtMs } });
    expect(reasonsOf(accepted(NOW - MINUTE_MS))).toEqual(['signature_wrong']);
    expect(reasonsOf(accepted(NOW))).toEqual([]);
  });
});

describe('the alarm that half of the webhooks are refused', () => {
  test('compares refused and accepted calls, and ignores a few', () => {
    expect(mostlyRefused({ refused: { signature_wrong: 11 }, accepted: 11 })).toEqual({
      refused: 11,
      made: 22,
      reason: 'signature_wrong',
    });
    expect(mostlyRefused({ refused: { signature_wrong: 11 }, accepted: 12 })).toBeNull();
    expect(mostlyRefused({ refused: { signature_wrong: 10 }, accepted: 0 })).toBeNull();
    expect(mostlyRefused({ refused: {}, accepted: 0 })).toBeNull();
  });
});
