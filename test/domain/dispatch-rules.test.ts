import { CREW_STEPS, NO_DISPATCH, type Dispatch } from '../../src/domain/tow/dispatch';
import {
  applyDispatch,
  HOLDS_MAX,
  NOTES_MAX,
  type DispatchCommand,
  type DispatchChange,
} from '../../src/domain/tow/dispatch-rules';
import type { Tow } from '../../src/domain/tow/tow';
import { TOW_STATES, type TowState } from '../../src/domain/vocabulary';
import { deepFreeze, minutesFromNow, NOW, nowMs, refusalOf, towAs } from './tows';

const context = { by: 'dispatch', clockMs: nowMs };

const SHORTEST = {
  assign: { kind: 'assign', crew: 'Crew 7', truck: 'T-12' },
  step: { kind: 'step', step: 'accepted' },
  yard: { kind: 'yard', yard: 'North', slot: 'B4' },
  hold: { kind: 'hold', holdId: 'h1', reason: 'police' },
  lift: { kind: 'lift', holdId: 'h0', reason: 'settled' },
  note: { kind: 'note', text: 'gate closes at 22:00' },
} as const satisfies Record<DispatchCommand['kind'], DispatchCommand>;

const OPEN_HOLD = { id: 'h0', reason: 'owner disputes', at: NOW, by: 'office', lifted: null };
const KINDS = ['assign', 'step', 'yard', 'hold', 'lift', 'note'] as const;

/** In which states each of them is taken. */
const TAKEN: Readonly<Record<DispatchCommand['kind'], readonly TowState[]>> = {
  assign: ['requested', 'started', 'detained'],
  step: ['requested', 'started'],
  yard: ['started', 'detained'],
  hold: ['requested', 'started', 'detained'],
  lift: TOW_STATES,
  note: TOW_STATES,
};

function towWith(state: TowState, dispatch: Partial<Dispatch>): Tow {
  return { ...towAs(state), dispatch: { ...NO_DISPATCH, ...dispatch } };
}

function keptOn(decision: DispatchChange): Dispatch {
  if (!decision.ok) throw new Error(`refused: ${decision.refusal.code}`);
  return decision.tow.dispatch;
}

/** The tow after the commands, in order. */
function after(tow: Tow, ...commands: readonly DispatchCommand[]): Tow {
  return commands.reduce((before, command) => {
    const decision = applyDispatch(before, command, context);
    if (!decision.ok) throw new Error(`refused: ${decision.refusal.code}`);
    return decision.tow;
  }, tow);
}

const step = (name: (typeof CREW_STEPS)[number], occurredAt?: string) =>
  ({ kind: 'step', step: name, occurredAt }) as const;

describe('dispatch data by state of the tow', () => {
  const pairs = KINDS.flatMap((kind) => TOW_STATES.map((state) => ({ kind, state })));

  test.each(pairs.filter(({ kind, state }) => TAKEN[kind].includes(state)))(
    '$kind is accepted for a tow that is $state and changes nothing else of it',
    ({ kind, state }) => {
      const tow = deepFreeze(towWith(state, { holds: [OPEN_HOLD] }));
      const decision = applyDispatch(tow, SHORTEST[kind], context);
      if (!decision.ok) throw new Error(decision.refusal.code);
      expect({ ...decision.tow, dispatch: tow.dispatch }).toEqual(tow);
      expect(decision.tow.dispatch).not.toEqual(tow.dispatch);
    },
  );

  test.each(pairs.filter(({ kind, state }) => !TAKEN[kind].includes(state)))(
    '$kind is refused for a tow that is $state',
    ({ kind, state }) => {
      const isOver = state === 'released' || state === 'canceled';
      const refusal = refusalOf(applyDispatch(towWith(state, { holds: [OPEN_HOLD] }), SHORTEST[kind], context));
      expect(refusal).toMatchObject({ kind: 'conflict', code: isOver ? 'tow_is_over' : `${kind}_not_allowed` });
      const accepted = 'only notes, photos, the link to its violation and the lifting of holds are accepted';
      expect(refusal.message.includes(accepted)).toBe(isOver);
    },
  );
});

describe('assignments', () => {
  const assigned = after(towAs('requested'), SHORTEST.assign);

  test('an assignment keeps crew, truck, time and author', () => {
    expect(assigned.dispatch.assignment).toEqual({ crew: 'Crew 7', truck: 'T-12', at: NOW, by: 'dispatch' });
    expect(after(towAs('requested'), { kind: 'assign', crew: 'Crew 7' }).dispatch.assignment?.truck).toBeNull();
  });

  test('an assignment to the same crew and truck is refused: already_recorded', () => {
    expect(refusalOf(applyDispatch(assigned, SHORTEST.assign, context)).code).toBe('already_recorded');
  });

  test('an assignment to another truck keeps the steps of the crew', () => {
    const driving = after(assigned, step('en_route'), { kind: 'assign', crew: 'Crew 7', truck: 'T-13' });
    expect(driving.dispatch.steps.map((taken) => taken.step)).toEqual(['en_route']);
  });

  test('an assignment to another crew restarts the steps', () => {
    const other = after(assigned, step('accepted'), step('on_scene'), { kind: 'assign', crew: 'Crew 8' });
    expect(other.dispatch).toMatchObject({ assignment: { crew: 'Crew 8', truck: null }, steps: [] });
    expect(after(other, step('accepted')).dispatch.steps).toHaveLength(1);
  });

  test('an assignment after the first steps keeps them', () => {
    const late = after(towAs('requested'), step('accepted'), SHORTEST.assign);
    expect(late.dispatch.steps.map((taken) => taken.step)).toEqual(['accepted']);
  });

  test('removing an assignment removes the steps of its crew', () => {
    const free = after(assigned, step('accepted'), { kind: 'assign', crew: null });
    expect(free.dispatch).toEqual(NO_DISPATCH);
  });

  test('removing an assignment is refused for a tow without one', () => {
    expect(refusalOf(applyDispatch(towAs('requested'), { kind: 'assign', crew: null }, context)).code).toBe(
      'not_assigned',
    );
  });

  test('removing an assignment is refused with a truck', () => {
    const refusal = refusalOf(applyDispatch(assigned, { kind: 'assign', crew: null, truck: 'T-1' }, context));
    expect([refusal.kind, refusal.details.map(({ field }) => field)]).toEqual(['invalid', ['truck']]);
  });
});

describe('steps of a crew', () => {
  const PAIRS = CREW_STEPS.flatMap((first, at) =>
    CREW_STEPS.map((second, then) => ({ first, second, order: then - at })),
  );

  test.each(PAIRS.filter(({ order }) => order > 0))(
    'the step $second is accepted after $first, also with steps between them left out',
    (pair) => {
      const { steps } = after(towAs('requested'), step(pair.first), step(pair.second)).dispatch;
      expect(steps.map((taken) => taken.step)).toEqual([pair.first, pair.second]);
    },
  );

  test.each(PAIRS.filter(({ order }) => order < 0))('the step $second is refused after $first', (pair) => {
    const refusal = refusalOf(applyDispatch(after(towAs('requested'), step(pair.first)), step(pair.second), context));
    expect(refusal).toMatchObject({ kind: 'conflict', code: 'step_not_allowed' });
  });

  test.each(CREW_STEPS)('the step %s is refused a second time: already_recorded', (name) => {
    const refusal = refusalOf(applyDispatch(after(towAs('started'), step(name)), step(name), context));
    expect(refusal).toMatchObject({ kind: 'conflict', code: 'already_recorded' });
  });

  test('a step needs no assignment and keeps its times and its author', () => {
    const crewStep = step('on_scene', minutesFromNow(-5));
    expect(keptOn(applyDispatch(towAs('requested'), crewStep, context)).steps).toEqual([
      { step: 'on_scene', occurredAt: minutesFromNow(-5), recordedAt: NOW, by: 'dispatch' },
    ]);
  });

  test('a step without a time gets the current time, or that of the previous step if it is later', () => {
    expect(keptOn(applyDispatch(towAs('requested'), step('accepted'), context)).steps[0]?.occurredAt).toBe(
      '2026-03-10T12:00:00Z',
    );
    const ahead = after(towAs('requested'), step('accepted', minutesFromNow(1)), step('en_route'));
    expect(ahead.dispatch.steps[1]?.occurredAt).toBe(ahead.dispatch.steps[0]?.occurredAt);
  });

  test('the time of a step is kept as written in UTC and converted to Z with another offset', () => {
    expect(after(towAs('requested'), step('accepted', '2026-03-10T11:00Z')).dispatch.steps[0]?.occurredAt).toBe(
      '2026-03-10T11:00Z',
    );
    expect(after(towAs('requested'), step('accepted', '2026-03-10T14:00+03:00')).dispatch.steps[0]?.occurredAt).toBe(
      '2026-03-10T11:00:00Z',
    );
  });

  test.each([
    ['more than 2 minutes ahead', minutesFromNow(3)],
    ['before the step before it', minutesFromNow(-11)],
    ['no moment', 'at noon'],
  ])('a step is refused when its time is %s', (_what, occurredAt) => {
    const tow = after(towAs('requested'), step('accepted', minutesFromNow(-10)));
    const refusal = refusalOf(applyDispatch(tow, step('en_route', occurredAt), context));
    expect([refusal.kind, refusal.details.map(({ field }) => field)]).toEqual(['invalid', ['occurred_at']]);
  });

  test('a step may be recorded after a later fact, which does not limit its time', () => {
    expect(after(towAs('started'), step('hooked', '2026-03-10T09:55:00Z')).dispatch.steps).toHaveLength(1);
  });
});

describe('the yard of a tow', () => {
  const parked = after(towAs('detained'), SHORTEST.yard);

  test('a new yard replaces the previous yard and its slot', () => {
    expect(parked.dispatch.yard).toEqual({ yard: 'North', slot: 'B4', at: NOW, by: 'dispatch' });
    expect(after(parked, { kind: 'yard', yard: 'North' }).dispatch.yard).toMatchObject({ yard: 'North', slot: null });
  });

  test('the same yard and slot again are refused: already_recorded', () => {
    expect(refusalOf(applyDispatch(parked, SHORTEST.yard, context)).code).toBe('already_recorded');
  });
});

describe('holds', () => {
  const held = after(towAs('started'), SHORTEST.hold);

  test('a hold keeps its reason, time and author, and several holds may be open', () => {
    const two = after(held, { kind: 'hold', holdId: 'h2', reason: 'owner disputes' });
    expect(two.dispatch.holds).toEqual([
      { id: 'h1', reason: 'police', at: NOW, by: 'dispatch', lifted: null },
      { id: 'h2', reason: 'owner disputes', at: NOW, by: 'dispatch', lifted: null },
    ]);
  });

  test('a hold with the reason of an open hold is refused with its id, and accepted after that one is lifted', () => {
    const again = { kind: 'hold', holdId: 'h2', reason: 'police' } as const;
    const refusal = refusalOf(applyDispatch(held, again, context));
    expect([refusal.code, refusal.message]).toEqual(['already_recorded', expect.stringContaining('h1')]);
    const lifted = after(held, { kind: 'lift', holdId: 'h1', reason: 'settled' });
    expect(after(lifted, again).dispatch.holds).toHaveLength(2);
  });

  test('a hold is lifted once and stays on record', () => {
    const lifted = after(held, { kind: 'lift', holdId: 'h1', reason: 'settled' });
    expect(lifted.dispatch.holds).toMatchObject([
      { id: 'h1', reason: 'police', lifted: { reason: 'settled', at: NOW, by: 'dispatch' } },
    ]);
    const again = applyDispatch(lifted, { kind: 'lift', holdId: 'h1', reason: 'settled' }, context);
    expect(refusalOf(again)).toMatchObject({ kind: 'conflict', code: 'already_recorded' });
  });

  test('lifting a hold that does not exist is refused', () => {
    expect(refusalOf(applyDispatch(held, { kind: 'lift', holdId: 'h9', reason: 'x' }, context))).toMatchObject({
      kind: 'unknown',
      code: 'hold_not_found',
    });
  });

  test('a tow has a maximum number of holds, which includes lifted ones', () => {
    const lifted = { reason: 'settled', at: NOW, by: 'office' };
    const holds = Array.from({ length: HOLDS_MAX }, (_, index) => ({ ...OPEN_HOLD, id: `x${index}`, lifted }));
    expect(refusalOf(applyDispatch(towWith('started', { holds }), SHORTEST.hold, context)).code).toBe('too_many_holds');
    expect(applyDispatch(towWith('started', { holds: holds.slice(1) }), SHORTEST.hold, context).ok).toBe(true);
  });
});

describe('notes', () => {
  test('a note is appended to the others, also with an equal text', () => {
    const { notes } = after(towAs('released'), SHORTEST.note, { kind: 'note', text: 'again' }, SHORTEST.note).dispatch;
    expect(notes.map(({ text }) => text)).toEqual([SHORTEST.note.text, 'again', SHORTEST.note.text]);
    expect(notes[0]).toEqual({ text: SHORTEST.note.text, at: NOW, by: 'dispatch' });
  });

  test('a tow has a maximum number of notes', () => {
    const notes = Array.from({ length: NOTES_MAX }, () => ({ text: 'x', at: NOW, by: 'office' }));
    expect(refusalOf(applyDispatch(towWith('started', { notes }), SHORTEST.note, context)).code).toBe('too_many_notes');
  });
});
