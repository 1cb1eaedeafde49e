import { runFuzz, type FuzzFindings } from './run';
import { TARGETS } from './targets';
import { brokenBoundsOf } from './verdict';

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
