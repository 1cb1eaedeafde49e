import { loadConfig } from '../../src/platform/config/config';
import { COMMAND_LINE_VARIABLES, VARIABLE_GROUPS, VARIABLES } from '../../src/platform/config/variables';

const grouped = Object.values(VARIABLE_GROUPS).flatMap((group) => Object.keys(group));

test('every environment variable is in exactly one section of the documentation', () => {
  const all = new Set([...Object.keys(VARIABLES.shape), ...Object.keys(COMMAND_LINE_VARIABLES.shape)]);
  expect(grouped.toSorted()).toEqual([...all].toSorted());
});

test('every environment variable has a description that ends with a full stop', () => {
  const described = Object.values(VARIABLE_GROUPS).flatMap((group) => Object.entries(group));
  expect(described.filter(([, { description = '' }]) => !/^[A-Z0-9`].*\.$/.test(description))).toEqual([]);
});

test('an empty environment is a valid configuration', () => {
  expect(() => loadConfig({})).not.toThrow();
});
