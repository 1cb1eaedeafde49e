import { draftOfCircuits, NO_CIRCUITS, type Circuits } from '../../src/domain/service/stored-circuits';
import { loseConnection, noEffects, resumeSending, stopSending } from '../../src/domain/service/circuits';
import { connectionTask } from '../../src/domain/ops/tasks';
import { changeOfCircuits } from '../../src/store/service/circuits';

const NOW_MS = 1_700_000_000_000;

function changeTypes(before: Circuits, change: (draft: Circuits, effects: ReturnType<typeof noEffects>) => void) {
  const after = draftOfCircuits(before);
  const effects = noEffects();
  change(after, effects);
  const { changed } = changeOfCircuits(before, after, { closed: effects.closed, newId: () => 'version0' });
  return { types: changed.map(({ type }) => type), after };
}

function lose(draft: Circuits, effects: ReturnType<typeof noEffects>): void {
  const task = connectionTask('no route', { violationId: 'U1' });
  loseConnection(draft, { delayMs: 1000, failures: 1, isSafeOnly: false, task, cause: 'dns_failed' }, NOW_MS, effects);
}

test('adds the change that the circuit of shadow mode has opened, as it does when that closes', () => {
  const { types, after } = changeTypes(NO_CIRCUITS, (draft) => stopSending(draft, NOW_MS));
  expect(types).toEqual(['circuit.opened']);

  const open = { ...after, version: '1.version0' };
  expect(changeTypes(open, (draft, effects) => resumeSending(draft, effects)).types).toEqual(['circuit.closed']);
});

test('adds once the change that a circuit has opened, and not when it stays open', () => {
  const { types, after } = changeTypes(NO_CIRCUITS, lose);
  expect(types).toEqual(['task.opened', 'circuit.opened']);

  expect(changeTypes({ ...after, version: '1.version0' }, lose).types).toEqual([]);
});
