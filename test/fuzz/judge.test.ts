import { judgeApi, judgePage, judgeReceiver } from './judge';
import { batchSeed } from './target';
import { TARGETS } from './targets';
import { z } from 'zod';

test.each(TARGETS)('$name: a seed draws the same inputs each time, and another seed others', (target) => {
  const drawn = (seed: number) => target.batch(batchSeed(seed, target.name, 3)).map((input) => input.describe());

  expect(drawn(7)).toEqual(drawn(7));
  expect(drawn(7)).not.toEqual(drawn(8));
});

describe('the judgement of answers', () => {
  const response = (status: number, body: unknown, type = 'application/json') => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return { status, headers: { 'content-type': type }, text, bytes: Buffer.byteLength(text) };
  };
  const refusal = { code: 'x', message: 'y', details: [] };
  const anything = { answer: z.unknown() };

  test('takes documented answers', () => {
    expect(judgeReceiver(response(200, { code: 'accepted' }))).toBeNull();
    expect(judgeReceiver(response(400, refusal))).toBeNull();
    expect(judgeApi(response(422, refusal), anything)).toBeNull();
    expect(judgeApi(response(503, refusal), { ...anything, documented5xx: ['x'] })).toBeNull();
    expect(judgePage(response(404, '<!DOCTYPE html><html></html>', 'text/html; charset=utf-8'))).toBeNull();
  });

  test.each([
    ['no answer', judgeReceiver('socket hang up')],
    ['503 of the receiver', judgeReceiver(response(503, refusal))],
    ['an error without details', judgeReceiver(response(400, { code: 'x', message: 'y' }))],
    ['an error that repeats its request', judgeReceiver(response(400, { ...refusal, message: 'x'.repeat(100_000) }))],
    ['an error that is no JSON', judgeReceiver(response(400, '<h1>Bad Request</h1>', 'text/html'))],
    ['500 of the API', judgeApi(response(500, refusal), anything)],
    ['an undocumented 503 of the API', judgeApi(response(503, refusal), { ...anything, documented5xx: ['z'] })],
    ['a success that breaks its contract', judgeApi(response(200, {}), { answer: z.object({ at: z.string() }) })],
    ['an error page of 503', judgePage(response(503, '<!DOCTYPE html><html></html>', 'text/html'))],
    ['half a page', judgePage(response(200, '<!DOCTYPE html><html>', 'text/html'))],
  ])('objects to %s', (_what, problem) => {
    expect(problem).toEqual(expect.any(String));
  });
});
