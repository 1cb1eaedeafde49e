import { checkNode } from '../../src/doctor/machine';

test.each([
  ['18.20.0', false, 'fault', 'node_too_old'],
  ['22.23.2', false, 'fine', 'new_enough'],
  ['24.20.0', true, 'warning', 'node_misreads_json'],
])('towhook doctor rates Node %s, where keys of JSON are misread: %s, as %s', (version, misreads, state, code) => {
  expect(checkNode(version, misreads)).toMatchObject({ state, code });
});
