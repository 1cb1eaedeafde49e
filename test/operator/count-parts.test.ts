import { array, assert, constantFrom, nat, property } from 'fast-check';
import { boundaryOf, PartCount } from '../../src/operator/form/count-parts';

function counted(boundary: string, pieces: readonly Buffer[]) {
  const count = new PartCount(boundary);
  for (const piece of pieces) count.push(piece);
  return [count.parts, count.hasPartAfterEnd];
}

it('counts the parts of a multipart body independently of how the body is split into pieces', () => {
  const token = constantFrom(
    '--b',
    '\r\n--b',
    '\r\n',
    '\r',
    '\n',
    '--',
    '-',
    'b',
    'x',
    '\r\n--c',
    '\r\n--b--',
    '\r\n--b\r\n',
  );
  assert(
    property(array(token, { maxLength: 12 }), array(nat(40), { maxLength: 8 }), (tokens, cuts) => {
      const body = Buffer.from(tokens.join(''));
      const ends = [...cuts.filter((at) => at < body.length), body.length].toSorted((a, b) => a - b);
      const pieces = ends.map((end, index) => body.subarray(ends[index - 1] ?? 0, end));
      const delimiters = [...`\r\n${body.toString()}`.matchAll(/\r\n--b(?=([^]{2}))/g)].map(([, behind]) => behind);
      const firstEnd = delimiters.indexOf('--');
      const isLate = (behind: string | undefined, at: number) => firstEnd !== -1 && at > firstEnd && behind !== '--';
      const expected = [delimiters.filter((behind) => behind !== '--').length, delimiters.some(isLate)];
      expect(counted('b', pieces)).toEqual(expected);
      expect(
        counted(
          'b',
          Array.from(body, (_byte, at) => body.subarray(at, at + 1)),
        ),
      ).toEqual(expected);
    }),
    { numRuns: 2000 },
  );
});

it.each([
  ['multipart/form-data; boundary=abc', 'abc'],
  ['multipart/form-data; charset=utf-8; Boundary="a b;c"', 'a b;c'],
  [String.raw`multipart/form-data; boundary="a\"b"`, 'a"b'],
  ['multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW; x=y', '----WebKitFormBoundary7MA4YWxkTrZu0gW'],
  ['multipart/form-data; boundary=""', null],
  ['multipart/form-data', null],
  [undefined, null],
])('reads the boundary of the content type %s as %s', (contentType, boundary) => {
  expect(boundaryOf(contentType)).toBe(boundary);
});
