import * as fc from 'fast-check';
import type { Json } from '../../src/domain/vocabulary';
import { anyText } from '../support/any-text';

/** Values and texts that no honest caller sends. */

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...[
      [
        '',
        ' ',
        '.',
        '..',
        '../../etc',
        '/',
        '\\',
        '%00',
        '%',
        '__proto__',
        'constructor',
        'toString',
        'hasOwnProperty',
      ],
      ['\0', '\u0001', '\u007f', '\r\n', '\n', '\u2028', '\u202eabc', '\ufeff', '\ufffd', '\ud800', '\udc00x', '😀'],
      [
        'null',
        'undefined',
        'NaN',
        'true',
        '0',
        '-1',
        '1e999',
        '9'.repeat(400),
        '٣٤',
        '<script>',
        "' OR 1=1",
        '{towhook-main}',
      ],
      ['a'.repeat(201), 'é'.repeat(600), ' x '.repeat(400), 'a:'.repeat(300)],
      ['1999-02-30T25:61:61Z', '2026-11-20T10:00:00+99:99', '${x}'],
    ].flat(),
  ),
  anyText(40),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
);

/** Any JSON value, mostly small. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: hostileText },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Json>(
      null,
      true,
      false,
      0,
      -0,
      -1,
      0.1,
      1e21,
      1e308,
      5e-324,
      2 ** 53,
      [],
      {},
      [[]],
      [null],
    ),
  },
  fc.double({ noDefaultInfinity: true, noNaN: true }),
  fc.array(hostileText, { maxLength: 5 }),
  fc.dictionary(hostileText, fc.constantFrom<Json>(null, 1, 'x', [], {}), { maxKeys: 5 }),
  fc.jsonValue({ maxDepth: 3 }),
);

interface LargeValue {
  readonly shape: (typeof SHAPES)[number];
  readonly bytes: number;
  readonly levels: number;
}

const SHAPES = [
  'deep_lists',
  'deep_objects',
  'many_names',
  'many_deep',
  'many_broken',
  'broken_fields',
  'huge_numbers',
  'long_text',
  'control_text',
  'surrogates',
  'same_name',
  'one_number',
  'many_items',
] as const;

/**
 * Large JSON text, up to `limitBytes`, made to be expensive to read. `start` begins the object, or
 * one within it, with the fields that the contract asks for.
 */
export function bulkyJson(limitBytes: number, start: fc.Arbitrary<string>): fc.Arbitrary<Buffer> {
  const bytes = fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 500, max: Math.min(8000, limitBytes) }) },
    { weight: 2, arbitrary: fc.integer({ min: 500, max: limitBytes }) },
    fc.constantFrom(limitBytes, limitBytes - 1),
  );
  const levels = fc.oneof(fc.integer({ min: 90, max: 105 }), fc.integer({ min: 1, max: 3000 }));
  return fc
    .tuple(fc.record({ shape: fc.constantFrom(...SHAPES), bytes, levels }), start)
    .map(([bulk, begin]) => bulkyText(bulk, begin));
}

function bulkyText(bulk: LargeValue, begin: string): Buffer {
  const room = Math.max(0, bulk.bytes - Buffer.byteLength(begin) - 20);
  const open = begin.split('{').length - begin.split('}').length;
  return Buffer.from(`${begin}"k":${filling(bulk, room)}${'}'.repeat(open)}`);
}

function filling({ shape, levels }: LargeValue, room: number): string {
  const times = (text: string) => Math.max(1, Math.floor(room / text.length));
  const deep = `${'['.repeat(levels)}1e999${']'.repeat(levels)}`;
  const named = (value: string) => {
    const one = `"k0000":${value}`;
    const count = Math.max(1, Math.floor(room / (one.length + 1)));
    return `{${Array.from({ length: count }, (_, index) => `"k${index}":${value}`).join(',')}}`;
  };
  switch (shape) {
    case 'deep_lists':
      return `${'['.repeat(room / 2)}${']'.repeat(room / 2)}`;
    case 'deep_objects':
      return `${'{"a":'.repeat(room / 6)}1${'}'.repeat(room / 6)}`;
    case 'many_names':
      return named('1');
    case 'many_deep':
      return named(deep);
    case 'many_broken':
      return named('1e999');
    case 'broken_fields':
      return `1,${named('1e999').slice(1, -1)}`;
    case 'huge_numbers':
      return `[${'1e999,'.repeat(times('1e999,'))}1]`;
    case 'long_text':
      return `"${'x'.repeat(room)}"`;
    case 'control_text':
      return `"${'\\u0000'.repeat(times('\\u0000'))}"`;
    case 'surrogates':
      return `"${'\\ud800'.repeat(times('\\ud800'))}"`;
    case 'same_name':
      return `1${',"k":1'.repeat(times(',"k":1'))}`;
    case 'one_number':
      return '9'.repeat(Math.max(1, room));
    case 'many_items':
      return `[${'{},'.repeat(times('{},'))}[]]`;
  }
}
