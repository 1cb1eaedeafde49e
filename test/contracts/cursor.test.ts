import * as fc from 'fast-check';
import { readCursor, writeCursor } from '../../src/contracts/cursor';
import { towsQuery } from '../../src/contracts/operator';

describe('a cursor', () => {
  test('is read as it was written, whatever the row is called', () => {
    const rows = fc.record({
      score: fc.oneof(fc.integer(), fc.constant(1_773_144_000_000)),
      member: fc.string({ unit: 'grapheme' }),
    });

    fc.assert(fc.property(rows, (row) => expect(readCursor(writeCursor(row))).toEqual(row)));
  });

  test('is safe in an address without any escaping', () => {
    for (const member of ['TW-1', 'ص ١', '???>>>', 'a b/c+d=']) {
      const cursor = writeCursor({ score: 1_773_144_000_000, member });
      expect(encodeURIComponent(cursor)).toBe(cursor);
    }
  });

  test('that is none of ours is no cursor, and throws nothing', () => {
    const encoded = (text: string) => Buffer.from(text).toString('base64url');
    const foreign = ['', '0', '17', 'next', '!!!', encoded('TW-1'), encoded(' TW-1'), encoded('soon TW-1')];

    expect(foreign.map(readCursor)).toEqual(foreign.map(() => null));
    fc.assert(
      fc.property(fc.string(), (text) => {
        const cursor = readCursor(text);
        expect(cursor === null || Number.isFinite(cursor.score)).toBe(true);
      }),
    );
  });
});

describe('a list asked for with a cursor', () => {
  test('takes one that a page ended with, of any length', () => {
    const cursor = writeCursor({ score: 1, member: 'T'.repeat(2000) });

    expect(towsQuery.parse({ cursor }).cursor).toBe(cursor);
  });

  test('names the field when it is none', () => {
    const result = towsQuery.safeParse({ cursor: 'page-2' });

    expect(result.error?.issues.map(({ path, message }) => [path.join('.'), message])).toEqual([
      ['cursor', 'must be a next_cursor of this list'],
    ]);
  });
});
