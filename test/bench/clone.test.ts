import { deflateRawSync, deflateSync, gunzipSync, gzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { cloned, templateOf } from '../../bench/history/clone';

const IDS = ['TW-1', 'dlv_a'];
const REPLACEMENTS = [
  ['TW-1', 'TW-2'],
  ['dlv_a', 'dlv_b'],
] as const;

function cloneOf(...parts: (Buffer | string | number)[]): Buffer[] {
  return cloned(templateOf(parts, IDS), REPLACEMENTS);
}

describe('a clone of a stored tow', () => {
  test('has other ids in keys, members and values', () => {
    const parts = cloneOf('HSET', 'tow:TW-1', 'meta', '{"ref":"TW-1","delivery":"dlv_a"}', 5);
    expect(parts.map(String)).toEqual(['HSET', 'tow:TW-2', 'meta', '{"ref":"TW-2","delivery":"dlv_b"}', '5']);
  });

  test.each([
    ['zlib', deflateSync, inflateSync],
    ['gzip', gzipSync, gunzipSync],
    ['raw deflate', deflateRawSync, inflateRawSync],
  ])('has other ids in values that are compressed with %s', (_name, pack, unpack) => {
    const [value = Buffer.alloc(0)] = cloneOf(pack(Buffer.from('{"ref":"TW-1","place":"شارع العليا"}')));
    expect(unpack(value).toString()).toBe('{"ref":"TW-2","place":"شارع العليا"}');
  });

  test('keeps bytes that contain no id, also bytes that are not text', () => {
    const bytes = Buffer.from([0, 255, 128, 10, 13]);
    expect(cloneOf(bytes, gzipSync('TW-9'))).toEqual([bytes, gzipSync('TW-9')]);
  });
});
