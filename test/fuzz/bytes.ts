import * as fc from 'fast-check';

/** Mutations of bytes: places are fractions of the length, so that one edit applies to any seed. */

export type Edit =
  | { readonly kind: 'flip'; readonly at: number; readonly bit: number }
  | { readonly kind: 'cut'; readonly at: number }
  | { readonly kind: 'remove' | 'duplicate'; readonly at: number; readonly length: number; readonly times: number }
  | { readonly kind: 'insert' | 'replace'; readonly at: number; readonly length: number; readonly bytes: Buffer };

/** Bytes that are hard for parsers: invalid UTF-8, control characters, huge numbers, deep nesting, odd names. */
const FRAGMENTS: readonly Buffer[] = [
  [
    ['1e999', '-1e999', '-0', '0.1e-400', '9'.repeat(400), '01', '0x10', 'NaN', '1_000', '.5'],
    ['null', 'true', '[]', '{}', '""', '"', '\\', '\\u', '\\ud800', '\\udc00\\ud800', '\\u0000', ',', ':', ']', '}'],
    ['"__proto__":{"polluted":1},', '"constructor":{"prototype":{"polluted":1}},', '"towing_reference_id":1,'],
    ['[', '{"a":', '[['.repeat(60), '{"a":'.repeat(120), '['.repeat(5000), 'a'.repeat(3000), ' '.repeat(3000)],
    ['\r\n', '\n', '\t', '\0', '\u0001', '\u007f', '\u202e', '\ufeff', '\ufffd', 'é', '😀', '%', '%00', '%2e', '..'],
    ['/', ';', '=', '--', '&', '?', '#', '+', '<script>', "'", 'v1,', 'v1a,', ' ', '٣', '𝟘'],
  ].map((texts) => texts.map((text) => Buffer.from(text))),
  [[0xff], [0xfe, 0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0x80]].map(
    (bytes) => Buffer.from(bytes),
  ),
].flat(2);

const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const length = fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 1, max: 4 }) }, fc.integer({ min: 1, max: 200 }));
const fragment = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...FRAGMENTS) },
  fc.uint8Array({ minLength: 1, maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
);

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ kind: fc.constant('flip' as const), at: place, bit: fc.nat(7) }),
  fc.record({ kind: fc.constant('cut' as const), at: place }),
  fc.record({
    kind: fc.constantFrom('remove' as const, 'duplicate' as const),
    at: place,
    length,
    times: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 3 }) }, fc.integer({ min: 4, max: 400 })),
  }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('insert' as const, 'replace' as const),
      at: place,
      length,
      bytes: fragment,
    }),
  },
);

/** Up to four edits; mostly one. */
export const edits: fc.Arbitrary<readonly Edit[]> = fc.oneof(
  { weight: 3, arbitrary: fc.array(edit, { minLength: 1, maxLength: 1 }) },
  fc.array(edit, { minLength: 2, maxLength: 4 }),
);

/** No edit in one case of three. */
export const perhapsEdits: fc.Arbitrary<readonly Edit[]> = fc.oneof(fc.constant<readonly Edit[]>([]), {
  weight: 2,
  arbitrary: edits,
});

export function edited(seed: Buffer, changes: readonly Edit[]): Buffer {
  return changes.reduce(applyEdit, seed);
}

/** The same for text of one byte per character, such as a header. */
export function editedText(seed: string, changes: readonly Edit[]): string {
  return changes.length === 0 ? seed : edited(Buffer.from(seed), changes).toString('latin1');
}

function applyEdit(bytes: Buffer, change: Edit): Buffer {
  const at = Math.floor(change.at * (bytes.length + 1));
  switch (change.kind) {
    case 'flip': {
      const flipped = Buffer.from(bytes);
      const old = flipped[at];
      if (old !== undefined) flipped[at] = old ^ (1 << change.bit);
      return flipped;
    }
    case 'cut':
      return bytes.subarray(0, at);
    case 'remove':
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + change.length)]);
    case 'duplicate': {
      const span = bytes.subarray(at, at + change.length);
      return Buffer.concat([
        bytes.subarray(0, at),
        ...Array.from({ length: change.times }, () => span),
        bytes.subarray(at),
      ]);
    }
    case 'insert':
      return Buffer.concat([bytes.subarray(0, at), change.bytes, bytes.subarray(at)]);
    case 'replace':
      return Buffer.concat([bytes.subarray(0, at), change.bytes, bytes.subarray(at + change.length)]);
  }
}
