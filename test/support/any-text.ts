import * as fc from 'fast-check';

const character = fc.integer({ min: 0, max: 0x10_ff_ff }).map((codePoint) => String.fromCodePoint(codePoint));

/**
 * Texts of up to `lengthMax` characters of Unicode, lone surrogates included. The unit `binary` of fast-check makes the
 * same, but it keeps a table of all characters, 85 MB, until the process ends.
 */
export function anyText(lengthMax: number): fc.Arbitrary<string> {
  return fc.string({ unit: character, maxLength: lengthMax });
}
