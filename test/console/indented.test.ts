import { assert, json, property } from 'fast-check';
import { indented, INDENTED_MAX } from '../../src/console/pages/deliveries/view';

test('indents JSON with one member per line and keeps every token unchanged', () => {
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

test('keeps the value of any JSON text when it indents it', () => {
  assert(
    property(json(), (text) => {
      expect(JSON.stringify(JSON.parse(indented(text) ?? ''))).toBe(JSON.stringify(JSON.parse(text)));
    }),
  );
});

test('does not indent text that is not JSON', () => {
  expect(indented('{"a":')).toBeNull();
  expect(indented('')).toBeNull();
});

test('does not indent JSON that would exceed the maximum length', () => {
  const nested = (members: number) => `${'['.repeat(22)}${Array(members).fill('1').join(',')}${']'.repeat(22)}`;
  expect(indented(nested(480_000))).toBeNull();
  expect((indented(nested(20_000)) ?? '').length).toBeLessThan(INDENTED_MAX);
  expect(indented(nested(20_000))).not.toBeNull();
});

test('limits the indented length of deeply nested JSON', () => {
  const deep = `${'['.repeat(2000)}${']'.repeat(2000)}`;
  expect((indented(deep) ?? '').length).toBeLessThan(deep.length * 45);
});
