import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import type { DeliveryKind, Json, JsonObject } from '../../src/domain/vocabulary';
import { readCall } from '../../src/receiver/read-call';

const names = fc.oneof(fc.string({ maxLength: 5 }), fc.constantFrom('id', 'constructor', '1', 'é"\\'));
const values: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string({ maxLength: 5 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (number === 0 ? 0 : number)),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    members(tie('value')),
  ),
})).value;

function members(value: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject> {
  return fc
    .uniqueArray(fc.tuple(names, value), { maxLength: 4, selector: ([name]) => name })
    .map((entries) => Object.fromEntries(entries));
}

const references = fc.constantFrom('TW-1', 'TW-2', 'قطر 7');
const bodies: fc.Arbitrary<JsonObject> = fc
  .record({ ref: references, violation: references, more: members(values), invoice: members(values) })
  .map(({ ref, violation, more, invoice }) =>
    Object.fromEntries([
      ...Object.entries(more).filter(([name]) => name !== 'metadata' && name !== 'delay_invoice'),
      ['towing_reference_id', ref],
      ['violation_reference_id', violation],
      ['towing_invoice', invoice],
    ]),
  );
const kinds = fc.constantFrom<DeliveryKind>('tow_request', 'tow_invoice');
const signatureIds = fc.constantFrom(null, 'msg_1', 'msg_2', '"],["');

/** A random JSON spelling of a value: members in random order, with random white space and escapes. */
function spelled(value: Json, dice: () => number): string {
  const space = () => ['', ' ', '\n\t'][dice() % 3] ?? '';
  const text = (plain: string) => {
    const quoted = JSON.stringify(plain);
    return dice() % 2 === 0
      ? quoted
      : quoted.replaceAll(/[a-z]/g, (letter) => (quoted.includes('\\') ? letter : escaped(letter)));
  };
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value))
    return `[${space()}${value.map((item) => spelled(item, dice)).join(`${space()},${space()}`)}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inRandomOrder = Object.entries(value)
    .map((entry) => ({ entry, rank: dice() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ entry: [name, member] }) => `${space()}${text(name)}${space()}:${space()}${spelled(member, dice)}`);
  return `{${inRandomOrder.join(',')}${space()}}`;
}

function escaped(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function keyOf(kind: DeliveryKind, rawBody: string, signatureId: string | null): string {
  const call = readCall(kind, Buffer.from(rawBody), { verified: true, signatureId, signedAtMs: null });
  if (call.kind !== 'delivery') throw new Error(`${JSON.stringify(call)} in ${rawBody}`);
  return call.delivery.id;
}

const dice = fc.infiniteStream(fc.nat({ max: 1000 })).map((stream) => () => Number(stream.next().value));
const runs = { numRuns: 1000 };

describe('delivery key', () => {
  test('gives one webhook the same delivery key for every JSON spelling of it', () => {
    fc.assert(
      fc.property(kinds, bodies, signatureIds, dice, (kind, body, signatureId, roll) => {
        const key = keyOf(kind, JSON.stringify(body), signatureId);
        expect(keyOf(kind, spelled(body, roll), signatureId)).toBe(key);
      }),
      runs,
    );
  });

  test('gives two webhooks different delivery keys exactly when their kind, signature id or body differs', () => {
    let differing = 0;
    const calls = fc.tuple(kinds, bodies, signatureIds);
    // Two independent bodies nearly always differ, so most pairs share one body or differ by a single member.
    const pairs = fc.oneof(
      fc.tuple(calls, calls),
      fc.tuple(calls, kinds, signatureIds).map(([call, kind, id]) => [call, [kind, call[1], id]] as const),
      fc.tuple(calls, names, values).map(([call, name, value]) => {
        const [kind, body, id] = call;
        const isTaken = Object.hasOwn(body, name) || ['metadata', 'delay_invoice'].includes(name);
        return [
          call,
          [kind, isTaken ? body : Object.fromEntries([...Object.entries(body), [name, value]]), id],
        ] as const;
      }),
    );
    fc.assert(
      fc.property(pairs, ([one, other]) => {
        const isSame = isDeepStrictEqual(one, other);
        differing += isSame ? 0 : 1;
        const [key, otherKey] = [one, other].map(([kind, body, id]) => keyOf(kind, JSON.stringify(body), id));
        expect(key === otherKey).toBe(isSame);
      }),
      runs,
    );
    expect(differing).toBeGreaterThan(runs.numRuns / 4);
    expect(differing).toBeLessThan(runs.numRuns);
  });

  test.each([
    ['a whole number beyond 2^53', '20260114000000000123', '20260114000000000124'],
    ['a fraction of 17 digits', '115.00000000000000', '115.00000000000001'],
    ['a small fraction', '0.00012345678901234567', '0.00012345678901234568'],
    ['an exponent', '1.2345678901234567891e3', '1.2345678901234567892e3'],
  ])('gives two webhooks that differ only in the last digit of %s different delivery keys', (_number, one, other) => {
    const keys = [one, other, one].map((number) =>
      keyOf('tow_invoice', `{"towing_reference_id":"TW-1","towing_invoice":{"invoice_number":${number}}}`, null),
    );

    expect(keys[1]).not.toBe(keys[0]);
    expect(keys[2]).toBe(keys[0]);
    const respelled = `{ "towing_invoice": {"invoice_number":\n${one}}, "towing_reference_id": "TW-1" }`;
    expect(keyOf('tow_invoice', respelled, null)).toBe(keys[0]);
  });

  test('gives a webhook whose numbers have at most 15 digits the delivery key of its canonical JSON', () => {
    const [one, other] = ['0.000123456789012345', '1.23456789012345e-4'].map((number) =>
      keyOf('tow_invoice', `{"towing_reference_id":"TW-1","tax":${number}}`, null),
    );

    expect(other).toBe(one);
    expect(one).toBe('dlv_cd47ca445aebc9c7cbd0aa86508a003baacc4b69');
  });

  test('gives a webhook with a __proto__ field another delivery key than one without it', () => {
    const body = '{"towing_reference_id":"TW-1","violation_reference_id":"V-1"';

    expect(keyOf('tow_request', `${body},"__proto__":{"a":1}}`, null)).not.toBe(keyOf('tow_request', `${body}}`, null));
  });
});
