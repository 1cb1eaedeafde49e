import { RUN_STATES } from '../../src/contracts/ops/runs';
import { TRANSITIONS } from '../../src/domain/tow/tow';
import { DELIVERY_STATES, REPORT_STATES, TOW_STATES, VIOLATION_STATES } from '../../src/domain/vocabulary';
import { diagramUnder } from './diagrams';
import { reportTransitions, violationTransitions } from './entry-walk';
import { circuitTransitions, deliveryTransitions } from './record-walks';

/** Enough that every transition is met many times. */
const RUNS = 4000;

/** Transitions of a diagram without those from and to `[*]`. */
const between = (heading: string) => diagramUnder(heading).filter((transition) => !transition.includes('[*]'));
/** The states of a diagram. */
const statesIn = (heading: string) =>
  diagramUnder(heading)
    .flatMap((transition) => transition.split(' > '))
    .filter((name) => name !== '[*]');

test('the diagram of a tow has the transitions of the table in the code', () => {
  const table = Object.entries(TRANSITIONS).flatMap(([from, events]) => events.map((to) => `${from} > ${to}`));
  expect(between('Tow')).toEqual(table.toSorted());
});

test.each([
  ['Report', () => reportTransitions(RUNS)],
  ['Violation', () => violationTransitions(RUNS)],
  ['Delivery', deliveryTransitions],
  ['Circuit', circuitTransitions],
])('the diagram "%s" has exactly the transitions that the rules make in random runs', (heading, transitions) => {
  expect(between(heading)).toEqual(transitions());
});

test.each([
  ['Tow', TOW_STATES],
  ['Report', REPORT_STATES],
  ['Violation', VIOLATION_STATES],
  ['Delivery', DELIVERY_STATES],
  ['Run', RUN_STATES],
])('the diagram "%s" has exactly the states of the code', (heading, states) => {
  expect(new Set(statesIn(heading))).toEqual(new Set(states));
});
