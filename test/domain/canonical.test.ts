import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { canonicalJson } from '../../src/domain/json';
import type { Json } from '../../src/domain/vocabulary';

const isJson = (value: unknown): value is Json => value !== undefined;

/** Any JSON text. */
function parsed(text: string): Json {
  const value: unknown = JSON.parse(text);
  if (!isJson(value)) throw new Error('no text says undefined');
  return value;
}

/** -0 is left out: JSON can represent it, but it has no use here. */
const values = fc.json({ maxDepth: 4 }).map((text) => parsed(text.replaceAll('-0', '0')));

/** The same value with its names in another order at every depth. */
function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, reversed(member)]),
  );
}

describe('canonicalJson', () => {
  test('canonical JSON sorts names at every depth, removes spaces and keeps the order of lists', () => {
    expect(canonicalJson({ b: [{ d: 1, c: 'é"' }, 2], a: null, B: true })).toBe(
      '{"B":true,"a":null,"b":[{"c":"é\\"","d":1},2]}',
    );
  });

  test('canonical JSON is equal for any order of names', () => {
    fc.assert(fc.property(values, (value) => expect(canonicalJson(reversed(value))).toBe(canonicalJson(value))));
  });

  test('canonical JSON is equal for any amount of white space', () => {
    const spaces = fc.constantFrom(0, 1, 2, 4, '\t');
    fc.assert(
      fc.property(values, spaces, (value, space) => {
        expect(canonicalJson(parsed(JSON.stringify(value, null, space)))).toBe(canonicalJson(value));
      }),
    );
  });

  test('canonical JSON differs for different values', () => {
    const small = fc
      .json({ maxDepth: 2, stringUnit: 'grapheme-ascii' })
      .map((text) => parsed(text.replaceAll('-0', '0')));
    fc.assert(
      fc.property(small, small, (one, other) => {
        expect(canonicalJson(one) === canonicalJson(other)).toBe(isDeepStrictEqual(one, other));
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    [{ a: 1 }, { a: '1' }],
    [{ a: null }, {}],
    [
      [1, 2],
      [2, 1],
    ],
    [
      [[1], 2],
      [1, [2]],
    ],
    [{ a: { b: 1 } }, { 'a.b': 1 }],
    [{ a: '","b":"' }, { a: '', b: '' }],
    [{}, []],
    [null, 'null'],
    [false, 0],
  ] satisfies [Json, Json][])('canonical JSON differs for %j and %j', (one, other) => {
    expect(canonicalJson(one)).not.toBe(canonicalJson(other));
  });

  test('canonical JSON parses back to the same value', () => {
    fc.assert(fc.property(values, (value) => expect(JSON.parse(canonicalJson(value))).toEqual(value)));
  });

  test('canonical JSON keeps names with a special meaning such as __proto__', () => {
    const text = '{"__proto__":{"id":"1"},"constructor":2}';

    expect(canonicalJson(parsed(text))).toBe(text);
  });
});
