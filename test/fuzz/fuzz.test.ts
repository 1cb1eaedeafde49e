import { judgeApi, judgePage, judgeReceiver } from './judge';
import { runFuzz, type FuzzFindings } from './run';
import { batchSeed } from './target';
import { TARGETS } from './targets';
import { brokenBoundsOf } from './verdict';
import { z } from 'zod';

const SEED = 20_261_120;
const INPUTS = 2000;

describe(`${INPUTS} hostile inputs to every parser`, () => {
  let findings: FuzzFindings;
  beforeAll(async () => {
    const { signal } = new AbortController();
    findings = await runFuzz({ seed: SEED, inputs: INPUTS, target: null, batch: null, signal, show: () => {} });
  }, 240_000);

  // `npm run fuzz` checks the duration of inputs: other tests run on this machine at the same time.
  test('crash nothing, cause no undocumented 5xx and get only answers of the documented form', () => {
    const problems = findings.failures.filter(({ isBlock }) => !isBlock);
    expect(problems.map(({ target, batch, way, problem }) => `${target} ${batch} ${way}: ${problem}`)).toEqual([]);
  });

  test('leave no memory behind in the parsers, the product and Redis', () => {
    expect(brokenBoundsOf(findings)).toEqual([]);
  });

  test('reach every parser directly and over HTTP', () => {
    expect(findings.parts.map(({ target }) => target)).toEqual(TARGETS.map(({ name }) => name));
    expect(findings.parts.every(({ direct, http }) => direct > 0 && http > 0)).toBe(true);
    const planned = (way: 'direct' | 'http') => findings.parts.reduce((sum, part) => sum + part[way], 0);
    expect(findings.direct.inputs).toBe(planned('direct'));
    expect(findings.http.inputs).toBe(planned('http'));
    expect(findings.direct.inputs + findings.http.inputs).toBeGreaterThanOrEqual(INPUTS * 0.9);
  });

  test.each<[string, (all: FuzzFindings) => FuzzFindings]>([
    ['a parser keeps memory', (all) => ({ ...all, direct: { ...all.direct, grownBytes: 2 ** 25 } })],
    ['the product keeps memory', (all) => withMemory(all, { heapGrownBytes: 2 ** 27 })],
    ['Redis keeps what was refused', (all) => withMemory(all, { redisGrownBytes: 2 ** 40 })],
    ['the list of refused calls has no limit', (all) => withMemory(all, { refused: 841 })],
  ])('are judged a failure when %s', (_what, change) => {
    expect(brokenBoundsOf(change(findings))).toHaveLength(1);
  });
});

function withMemory(all: FuzzFindings, change: Partial<FuzzFindings['http']['memory']>): FuzzFindings {
  return { ...all, http: { ...all.http, memory: { ...all.http.memory, ...change } } };
}

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
