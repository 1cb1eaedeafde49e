import { runFuzz } from './run';
import { brokenBoundsOf } from './verdict';

const SEED = 7;
const INPUTS = 40_000;

test(`${INPUTS} hostile inputs crash nothing, get only documented answers and leave no memory behind`, async () => {
  const { signal } = new AbortController();
  const findings = await runFuzz({ seed: SEED, inputs: INPUTS, target: null, batch: null, signal, show: () => {} });

  // `npm run fuzz` checks the duration of inputs, because it has the machine for itself.
  const problems = findings.failures.filter(({ isBlock }) => !isBlock);
  expect(problems.map(({ target, batch, way, problem }) => `${target} ${batch} ${way}: ${problem}`)).toEqual([]);
  expect(brokenBoundsOf(findings)).toEqual([]);
}, 600_000);
