import { advance } from '../../src/domain/tow/facts';
import { isTerminal, TRANSITIONS } from '../../src/domain/tow/tow';
import { TOW_STATES, type TowState } from '../../src/domain/vocabulary';
import { COMMANDS, context, recorded, refusalOf, towAs } from './tows';

/** The design's table, written out: from, event, and the state it leads to or why it leads nowhere. */
const PAIRS = [
  ['requested', 'started', 'started'],
  ['requested', 'detained', 'transition_not_allowed'],
  ['requested', 'canceled', 'canceled'],
  ['requested', 'released', 'transition_not_allowed'],
  ['started', 'started', 'already_recorded'],
  ['started', 'detained', 'detained'],
  ['started', 'canceled', 'canceled'],
  ['started', 'released', 'released'],
  ['detained', 'started', 'already_recorded'],
  ['detained', 'detained', 'already_recorded'],
  ['detained', 'canceled', 'canceled'],
  ['detained', 'released', 'released'],
  ['released', 'started', 'already_recorded'],
  ['released', 'detained', 'already_recorded'],
  ['released', 'canceled', 'transition_not_allowed'],
  ['released', 'released', 'already_recorded'],
  ['canceled', 'started', 'transition_not_allowed'],
  ['canceled', 'detained', 'transition_not_allowed'],
  ['canceled', 'canceled', 'already_recorded'],
  ['canceled', 'released', 'transition_not_allowed'],
] as const;

const isState = (word: string): word is TowState => TOW_STATES.some((state) => state === word);
const allowed = PAIRS.filter(([, , outcome]) => isState(outcome));
const forbidden = PAIRS.filter(([, , outcome]) => !isState(outcome));

/** Ops, so that only the table can forbid anything. */
const asOps = context({ role: 'ops' });

describe('the transition table', () => {
  test('the transition table is written out for all 5 states and 4 events', () => {
    expect(new Set(PAIRS.map(([from, event]) => `${from} ${event}`)).size).toBe(20);
    expect(allowed).toHaveLength(7);
  });

  test('the transition table has no state and no event beyond those of the design', () => {
    expect(Object.keys(TRANSITIONS).toSorted()).toEqual(['canceled', 'detained', 'released', 'requested', 'started']);
    const events = new Set(Object.values(TRANSITIONS).flat());
    expect([...events].toSorted()).toEqual(['canceled', 'detained', 'released', 'started']);
  });

  test.each([
    ['requested', false],
    ['started', false],
    ['detained', false],
    ['released', true],
    ['canceled', true],
  ] as const)('isTerminal of the state %s returns %s', (state, expected) => {
    expect(isTerminal(state)).toBe(expected);
  });
});

describe('transitions of a tow', () => {
  test.each(allowed)('a tow that is %s moves by %s to %s and owes exactly that report', (from, event, to) => {
    const { tow, owed, withdraw } = recorded(advance(towAs(from), COMMANDS[event], asOps));

    expect(tow.state).toBe(to);
    expect(tow.facts.at(-1)).toMatchObject({ event, by: 'dispatch' });
    expect(owed.kind).toBe(event);
    expect(withdraw).toEqual([]);
  });

  test.each(forbidden)('a tow that is %s refuses %s with %s', (from, event, code) => {
    expect(refusalOf(advance(towAs(from), COMMANDS[event], asOps))).toMatchObject({ kind: 'conflict', code });
  });

  test.each(['released', 'canceled'] as const)('a tow that is %s refuses an invoice request', (state) => {
    expect(refusalOf(advance(towAs(state), COMMANDS.invoice, asOps)).code).toBe('transition_not_allowed');
  });
});
