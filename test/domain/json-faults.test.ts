import * as fc from 'fast-check';
import { jsonFaults } from '../../src/domain/json';

const scalars = [
  '1',
  '-0.5',
  'null',
  'true',
  '"1e999"',
  String.raw`"\"[{1e999\\"`,
  '1e308',
  '12E+1',
  '1e999',
  '-9e308',
];
const names = ['a', 'b', '0', '1e999', '__proto__', 'length'];

/** JSON texts with nested lists and objects, white space and numbers out of range. */
const texts = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...scalars, '[]', '{ }', '1'.repeat(309), '9'.repeat(308)),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(' ,\n')}]`),
    fc
      .uniqueArray(fc.tuple(fc.constantFrom(...names), tie('value')), { maxLength: 3, selector: ([name]) => name })
      .map((members) => `{${members.map(([name, value]) => `"${name}" : ${value}`).join(',')}}`),
  ),
})).value;

/** The expected faults, computed from the parsed value by recursion. Paths are sorted. */
function recursively(value: unknown, path: readonly string[] = []): { depth: number; infinite: string[] } {
  if (typeof value === 'number') return { depth: 0, infinite: Number.isFinite(value) ? [] : [path.join('.')] };
  if (typeof value !== 'object' || value === null) return { depth: 0, infinite: [] };
  const inner = Object.entries(value).map(([name, member]) => recursively(member, [...path, name]));
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    infinite: inner.flatMap(({ infinite }) => infinite).toSorted(),
  };
}

test('a scan of JSON text returns its depth and the path of every number out of range', () => {
  let withFaults = 0;
  fc.assert(
    fc.property(texts, (text) => {
      const { depth, infinite } = recursively(JSON.parse(text));
      const found = jsonFaults(text, depth);
      expect(found).toMatchObject({ isTooDeep: false, infiniteCount: infinite.length });
      expect(found.infinite.toSorted()).toEqual(infinite);
      expect(depth === 0 || jsonFaults(text, depth - 1).isTooDeep).toBe(true);
      withFaults += infinite.length > 0 ? 1 : 0;
    }),
    { numRuns: 2000 },
  );
  expect(withFaults).toBeGreaterThan(200);
});

test('a scan of JSON text names the first 20 numbers out of range and counts the others', () => {
  const { infinite, infiniteCount } = jsonFaults(`[${Array.from({ length: 1000 }, () => '1e999').join(',')}]`, 1);
  expect([infinite, infiniteCount]).toEqual([Array.from({ length: 20 }, (_, at) => String(at)), 1000]);
});

test.each([
  ['123456789012345', false],
  ['1234567890123456', true],
  ['-1.234567890123456', true],
  ['-1.23456789012345', false],
  ['0.00000000000000000012', false],
  ['12345678901E-100000', false],
  ['"12345678901234567890"', false],
  ['{"12345678901234567890":[1,12345678901234567890,2]}', true],
])('a scan of the JSON text %s tells whether a number has 16 or more digits', (text, expected) => {
  expect(jsonFaults(text, 2).hasLongNumber).toBe(expected);
});

test('a scan of text that is not JSON reads it to its end', () => {
  const parts = fc.constantFrom(...scalars, '{', '}', '[', ']', ',', ':', '"', '\\', 'e', '-', ' ');
  fc.assert(
    fc.property(fc.array(parts), (text) => {
      expect(jsonFaults(text.join(''), 3).infinite.length).toBeLessThanOrEqual(20);
    }),
    { numRuns: 2000 },
  );
});
