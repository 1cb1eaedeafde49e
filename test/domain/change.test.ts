import { change } from '../../src/domain/change';
import { INITIAL_ENTRY, copyOfEntry } from '../../src/domain/entry';

test('changes only the given fields of an object', () => {
  const entry = copyOfEntry(INITIAL_ENTRY);
  change(entry, { state: 'accepted', nextAtMs: null });
  expect(entry).toEqual({ ...INITIAL_ENTRY, state: 'accepted', nextAtMs: null });
});

test('the compiler finds a misspelled field, state or value of a closed set', () => {
  const entry = copyOfEntry(INITIAL_ENTRY);
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
