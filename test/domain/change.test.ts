import { change } from '../../src/domain/change';
import { copyOfEntry, newEntry } from '../../src/domain/outbox/entry';

const ENTRY = newEntry({ seq: 1, id: 'started-1', kind: 'started', body: {}, nowMs: 1 });

test('changes only the given fields of an object', () => {
  const entry = copyOfEntry(ENTRY);
  change(entry, { state: 'accepted', nextAtMs: null });
  expect(entry).toEqual({ ...ENTRY, state: 'accepted', nextAtMs: null });
});

test('the compiler finds a misspelled field, state or value of a closed set', () => {
  const entry = copyOfEntry(ENTRY);
  const wrong = [
    // @ts-expect-error There is no such field.
    () => change(entry, { nextAt: null }),
    // @ts-expect-error There is no such state.
    () => change(entry, { state: 'acepted' }),
    // @ts-expect-error There is no such wait reason.
    () => change(entry, { waitsFor: 'bugdet' }),
    // @ts-expect-error A comparison with a value that does not exist.
    () => entry.waitsFor === 'bugdet',
    // @ts-expect-error A comparison with a way that does not exist.
    () => entry.acceptedHow === 'by_had',
  ];
  expect(wrong).toHaveLength(5);
});
