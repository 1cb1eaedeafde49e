import * as fc from 'fast-check';
import { createAuditChain, type ChainBreak } from '../../src/domain/ops/audit-chain';
import { chainOf, sha1 } from '../support/audit';

const SEVEN = chainOf(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((why) => JSON.stringify({ why })));

const stretch = (from: number, to: number) => SEVEN.slice(from - 1, to);
const seqOf = (line: string) => line.split(' ')[0] ?? '';

/** Verifies archived and then kept lines up to the first break. */
function follow(archived: readonly string[], kept: readonly string[], noted?: { seq: number; hash: string }) {
  const chain = createAuditChain(sha1);
  const found = (broken: ChainBreak | null) => ({ broken, extent: chain.extent });
  for (const line of archived) {
    const broken = chain.takeArchived(line, seqOf(line));
    if (broken) return found(broken);
  }
  const broken = chain.endArchived();
  if (broken) return found(broken);
  for (const line of kept) {
    const brokenHere = chain.takeKept(line);
    if (brokenHere) return found(brokenHere);
  }
  return found(noted ? chain.compareNoted(noted) : null);
}

/** Changes the content of a line but not its hash. */
const changed = (line: string) => line.replace('"why":"', '"why":"not ');
const hashOf = (line: string) => line.split(' ')[2] ?? '';
const WHOLE = { firstSeq: 1, lastSeq: 7, headHash: hashOf(SEVEN[6] ?? '') };

describe('the audit chain', () => {
  test.each([
    ['in Redis alone', [], SEVEN],
    ['in the archive alone', SEVEN, []],
    ['partly in Redis and partly in the archive', stretch(1, 4), stretch(5, 7)],
    ['partly in both', stretch(1, 5), stretch(3, 7)],
    ['archived twice', [...stretch(1, 3), ...stretch(1, 5)], stretch(5, 7)],
    ['archived in an order other than their own', [...stretch(4, 5), ...stretch(1, 3)], SEVEN],
  ])('the audit chain verifies with its entries %s', (_where, archived, kept) => {
    expect(follow(archived, kept)).toEqual({ broken: null, extent: WHOLE });
  });

  test('the audit chain verifies when its oldest entries were deleted from the archive', () => {
    expect(follow(stretch(3, 5), stretch(5, 7))).toEqual({ broken: null, extent: { ...WHOLE, firstSeq: 3 } });
    expect(follow([...stretch(5, 6), ...stretch(3, 4)], stretch(7, 7)).extent).toEqual({ ...WHOLE, firstSeq: 3 });
  });

  test('an empty audit chain is accepted', () => {
    expect(follow([], [])).toEqual({ broken: null, extent: null });
  });

  test('the audit chain verifies when names and reasons were removed', () => {
    const removed = SEVEN.map((line) => line.split('\n')[0] ?? '');
    expect(follow([], removed)).toEqual({ broken: null, extent: WHOLE });
    expect(follow(removed.slice(0, 4), SEVEN.slice(4)).broken).toBeNull();
  });

  test('the audit chain verifies entries with text in any script', () => {
    const lines = chainOf(['"لوحة"', '"\u2028 \u2029"', '"🚗"', '"\uFEFF"']);
    expect(follow([], lines).broken).toBeNull();
  });
});

describe('the first broken entry of the audit chain', () => {
  const [one, two, three, four, five] = SEVEN;
  const forged = chainOf(['1', '2', '3'].map((why) => JSON.stringify({ why })));

  test.each([
    ['changed', [...stretch(1, 3), changed(four ?? ''), ...stretch(5, 7)], 4],
    ['the first changed', [changed(one ?? ''), ...stretch(2, 7)], 1],
    ['the last changed', [...stretch(1, 6), changed(SEVEN[6] ?? '')], 7],
    ['its moment changed', [...stretch(1, 3), (four ?? '').replace(' 17', ' 16'), ...stretch(5, 7)], 4],
    ['changed with its hash', [one, forged[1], ...stretch(3, 7)], 2],
    ['removed', [...stretch(1, 3), ...stretch(5, 7)], 4],
    ['the first removed', stretch(2, 7), 1],
    ['reordered', [one, two, four, three, ...stretch(5, 7)], 3],
    ['inserted', [one, two, forged[1], ...stretch(3, 7)], 2],
    ['inserted once more', [one, two, two, ...stretch(3, 7)], 2],
    ['inserted and counted on', [one, two, forged[2], ...stretch(3, 7)], 3],
    ['no entry', [one, two, 'nonsense', ...stretch(4, 7)], 3],
    ['a line without JSON', [one, two, (three ?? '').split(' ').slice(0, 3).join(' '), ...stretch(4, 7)], 3],
  ])('the audit chain names the first broken entry in Redis: %s', (_what, lines, seq) => {
    const kept = lines.map((line) => line ?? '');
    expect(follow([], kept).broken?.seq).toBe(seq);
    expect(follow([], kept).extent?.lastSeq ?? 0).toBeLessThan(seq + 1);
  });

  test.each([
    ['changed', [...stretch(1, 3), changed(four ?? '')], stretch(5, 7), 4],
    ['removed', [one, two, four, five], stretch(6, 7), 3],
    ['the last removed', stretch(1, 3), stretch(5, 7), 4],
    ['all removed', [], stretch(5, 7), 1],
    ['twice and different', [one, two, changed(two ?? '')], stretch(3, 7), 2],
    ['other than what Redis still keeps', stretch(1, 4), [changed(three ?? ''), ...stretch(4, 7)], 3],
    ['rebuilt', stretch(1, 4), forged, 1],
    ['without its beginning, which Redis keeps', stretch(4, 5), SEVEN, 1],
  ])('the audit chain names the first broken entry in the archive: %s', (_what, archived, kept, seq) => {
    const { broken } = follow(
      archived.map((line) => line ?? ''),
      kept,
    );
    expect(broken?.seq).toBe(seq);
  });

  test('the audit chain rejects an archived line that is filed under another seq', () => {
    const chain = createAuditChain(sha1);
    expect(chain.takeArchived(one ?? '', '2')).toMatchObject({ seq: 1 });
  });
});

describe('a noted head of the audit chain', () => {
  test('the audit chain accepts a noted head that is still in the chain', () => {
    for (const line of SEVEN) {
      expect(follow(stretch(1, 3), stretch(2, 7), { seq: Number(seqOf(line)), hash: hashOf(line) }).broken).toBeNull();
    }
  });

  test('the audit chain detects that entries after a noted head were cut off', () => {
    const noted = { seq: 7, hash: hashOf(SEVEN[6] ?? '') };
    expect(follow([], stretch(1, 5)).broken).toBeNull();
    expect(follow([], stretch(1, 5), noted).broken?.seq).toBe(6);
    expect(follow([], [], noted).broken?.seq).toBe(1);
  });

  test('the audit chain detects that it was rebuilt as a whole after a head was noted', () => {
    const rebuilt = chainOf(['x', 'y', 'z'].map((why) => JSON.stringify({ why })));
    expect(follow([], rebuilt).broken).toBeNull();
    expect(follow([], rebuilt, { seq: 3, hash: hashOf(SEVEN[2] ?? '') }).broken?.seq).toBe(3);
  });
});

test('the audit chain detects any single changed byte in any entry', () => {
  const at = fc.record({ entry: fc.nat(SEVEN.length - 1), place: fc.nat(500), by: fc.integer({ min: 1, max: 126 }) });
  fc.assert(
    fc.property(at, fc.nat(SEVEN.length), ({ entry, place, by }, archivedTo) => {
      const line = SEVEN[entry] ?? '';
      const byte = place % line.length;
      const other = String.fromCharCode(((line.charCodeAt(byte) + by) % 127) + 1);
      fc.pre(other !== line[byte]);
      const lines = SEVEN.with(entry, `${line.slice(0, byte)}${other}${line.slice(byte + 1)}`);
      const { broken } = follow(lines.slice(0, archivedTo), lines.slice(archivedTo));
      expect(broken).not.toBeNull();
    }),
  );
});
