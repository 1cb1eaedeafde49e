import { problemsOf, type Run } from './run-scenario';
import { REPORT_SCENARIOS } from './report-scenarios';

const [scenario] = REPORT_SCENARIOS;
const OUTCOME: Run['outcome'] = {
  records: [],
  reports: ['started accepted'],
  violations: [],
  deliveries: [],
  runs: [],
  tasks: [],
  audit: [],
  conservation: '',
  order: ['started', 'detained'],
  counts: { started: 1 },
  created: {},
  lost: [],
  faults: [],
};
const UNINTERRUPTED: Run = {
  steps: [],
  wasInterrupted: false,
  inFlight: [],
  takenOver: [],
  leasesEnded: [],
  failures: [],
  outcome: OUTCOME,
};

function problems(outcome: Partial<Run['outcome']>, run: Partial<Run> = {}): string[] {
  if (!scenario) throw new Error('there is no scenario');
  return problemsOf(scenario, { ...UNINTERRUPTED, ...run, outcome: { ...OUTCOME, ...outcome } }, UNINTERRUPTED);
}

test('the kill sweep accepts a run that ended like the uninterrupted one', () => {
  expect(problems({})).toEqual([]);
});

test('the kill sweep accepts one more call of a report that was in flight when its worker was lost', () => {
  const more = { counts: { started: 2 }, lost: ['TW started-1'] };

  expect(problems(more, { inFlight: ['TW started-1'] })).toEqual([]);
});

test('the kill sweep reports an attempt that was taken over under its lease as a problem', () => {
  expect(problems({}, { inFlight: ['TW started-1'], takenOver: ['TW started-1'] })).toHaveLength(1);
});

test.each([
  ['a lost report', { reports: ['started pending'] }],
  ['an additional task', { tasks: ['report_unknown'] }],
  ['a delivery without a final state', { deliveries: ['tow_request waiting'] }],
  ['reports in another order', { order: ['detained', 'started'] }],
  ['a call repeated although none was in flight', { counts: { started: 2 } }],
  ['an unknown outcome although nothing was in flight', { lost: ['TW started-1'] }],
  ['a decision recorded twice', { audit: ['report.waived'] }],
  ['a right or a schedule that is left', { faults: ['TW is leased'] }],
] satisfies [string, Partial<Run['outcome']>][])('the kill sweep reports %s as a problem', (_what, change) => {
  expect(problems(change)).toHaveLength(1);
});
