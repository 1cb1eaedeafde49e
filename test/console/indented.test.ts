import { assert, json, property } from 'fast-check';
import { indented, INDENTED_MAX } from '../../src/console/pages/ops/indented';

test('every piece of the JSON stays as it came, one member a line', () => {
  expect(indented('{"a":100.50,"b":[1,{}],"c":[],"d":"x, {\\"y\\"}: \\\\"}')).toBe(
    [
      '{',
      '  "a": 100.50,',
      '  "b": [',
      '    1,',
      '    {}',
      '  ],',
      '  "c": [],',
      '  "d": "x, {\\"y\\"}: \\\\"',
      '}',
    ].join('\n'),
  );
});

test('it means the same as before, whatever it is', () => {
  assert(
    property(json(), (text) => {
      expect(JSON.stringify(JSON.parse(indented(text) ?? ''))).toBe(JSON.stringify(JSON.parse(text)));
    }),
  );
});

test('what is no JSON is not indented', () => {
  expect(indented('{"a":')).toBeNull();
  expect(indented('')).toBeNull();
});

test('what would become much longer than it was is not laid out', () => {
  const nested = (members: number) => `${'['.repeat(22)}${Array(members).fill('1').join(',')}${']'.repeat(22)}`;
  expect(indented(nested(480_000))).toBeNull();
  expect((indented(nested(20_000)) ?? '').length).toBeLessThan(INDENTED_MAX);
  expect(indented(nested(20_000))).not.toBeNull();
});

test('what is nested without end stays about as long as it was', () => {
  const deep = `${'['.repeat(2000)}${']'.repeat(2000)}`;
  expect((indented(deep) ?? '').length).toBeLessThan(deep.length * 45);
});
