import { findingLines, type Finding } from '../../src/cli/finding';

const found = (state: Finding['state']): Finding => ({ check: 'redis', state, code: 'any', what: 'any', fix: null });

test.each<[Finding['state'][], string]>([
  [['fine'], 'No faults, 0 warnings.'],
  [['warning'], 'No faults, 1 warning.'],
  [['fault', 'warning', 'warning'], '1 fault, 2 warnings.'],
  [['fault', 'fault'], '2 faults, 0 warnings.'],
])('the sum of the findings %j is "%s"', (states, sum) => {
  expect(findingLines(states.map(found)).at(-1)).toBe(sum);
});
