import { simulatorCall, type SimulatorCall } from '../../src/contracts/service/simulator';
import { compare } from '../../src/demo/check';

/** How the demo judges the calls that the simulator recorded. */

const REF = 'TW-20261123-AAAAAA';
const PLAYED = { ref: REF, expected: ['started', 'detained', 'released'].map((kind) => ({ kind, body: {} })) };

function call(operation: string, fields: Partial<SimulatorCall> = {}): SimulatorCall {
  return simulatorCall.parse({ operation, body: {}, status: 200, effect: true, fault: null, ...fields });
}

function judged(...calls: readonly SimulatorCall[]) {
  const problems: string[] = [];
  const { missing, outOfOrder } = compare(PLAYED, calls, problems);
  return { missing, outOfOrder, problems };
}

const GOOD = { missing: 0, outOfOrder: 0, problems: [] };

test('a repeated report whose first call was read after its caller had given up is in order', () => {
  const late = call('started', { status: null, hung_up: true });

  expect(judged(call('started'), call('detained'), late, call('released'))).toEqual(GOOD);
});

test('a report that arrived only in a call without an answer has arrived', () => {
  const unanswered = call('detained', { status: null, hung_up: true });

  expect(judged(call('started'), unanswered, call('released'))).toEqual(GOOD);
});

test('an answered report that comes again after a later one is out of order', () => {
  const again = judged(call('started'), call('detained'), call('started'), call('released'));

  expect(again).toMatchObject({ outOfOrder: 1, problems: [`${REF}: arrived as started, detained, started, released`] });
});

test('a report that never arrived is missing', () => {
  expect(judged(call('started'), call('released'))).toMatchObject({ missing: 1 });
});
