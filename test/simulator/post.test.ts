import { Poster } from '../../src/simulator/post';
import { endAll, startOperator } from './support';

afterEach(endAll);

test.each([
  ['a value beyond U+00FF', { 'x-secret': 'كلمة' }],
  ['a line end', { 'x-secret': 'a\nb' }],
  ['a name with a space', { 'x secret': 'a' }],
  ['trailers without chunks', { trailer: 'x-secret' }],
])('a post with a header that cannot be sent resolves without a status: %s', async (_what, headers) => {
  const operator = await startOperator();
  const poster = new Poster();
  try {
    expect(await poster.post({ url: operator.url, headers, body: '{}', timeoutMs: 15_000 })).toBeNull();
    expect(await poster.post({ url: operator.url, headers: {}, body: '{}', timeoutMs: 15_000 })).toBe(200);
    expect(operator.posted).toHaveLength(1);
  } finally {
    poster.close();
  }
});
