import * as fc from 'fast-check';
import { readCursor, writeCursor } from '../../src/contracts/paging';
import { towsQuery } from '../../src/contracts/operator';

describe('cursors', () => {
  test('reads a cursor as it was written, for any member name', () => {
    const rows = fc.record({
      score: fc.oneof(fc.integer(), fc.constant(1_773_144_000_000)),
      member: fc.string({ unit: 'grapheme' }),
    });

    fc.assert(fc.property(rows, (row) => expect(readCursor(writeCursor(row))).toEqual(row)));
  });

  test('writes cursors that need no escaping in a URL', () => {
    for (const member of ['TW-1', 'ص ١', '???>>>', 'a b/c+d=']) {
      const cursor = writeCursor({ score: 1_773_144_000_000, member });
      expect(encodeURIComponent(cursor)).toBe(cursor);
    }
  });

  test('returns null for a foreign cursor without throwing', () => {
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

describe('the page query', () => {
  test('accepts a cursor of any length', () => {
    const cursor = writeCursor({ score: 1, member: 'T'.repeat(2000) });

    expect(towsQuery.parse({ cursor }).cursor).toBe(cursor);
  });

  test('names the field of an invalid cursor', () => {
    const result = towsQuery.safeParse({ cursor: 'page-2' });

    expect(result.error?.issues.map(({ path, message }) => [path.join('.'), message])).toEqual([
      ['cursor', 'must be a next_cursor of this list with the same filters'],
    ]);
  });
});
