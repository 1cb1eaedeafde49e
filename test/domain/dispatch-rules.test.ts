import { CREW_STEPS, NO_DISPATCH, type Dispatch } from '../../src/domain/dispatch';
import { HOLDS_MAX, keep, NOTES_MAX, type DispatchCommand, type Kept } from '../../src/domain/dispatch-rules';
import type { Tow } from '../../src/domain/tow';
import { TOW_STATES, type TowState } from '../../src/domain/vocabulary';
import { deepFreeze, minutesFromNow, NOW, nowMs, refusalOf, towAs } from './tows';

const context = { by: 'dispatch', nowMs };

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

function keptOn(decision: Kept): Dispatch {
  if (!decision.ok) throw new Error(`refused: ${decision.refusal.code}`);
  return decision.tow.dispatch;
}

/** The tow after these were told one after the other. */
function after(tow: Tow, ...commands: readonly DispatchCommand[]): Tow {
  return commands.reduce((before, command) => {
    const decision = keep(before, command, context);
    if (!decision.ok) throw new Error(`refused: ${decision.refusal.code}`);
    return decision.tow;
  }, tow);
}

const step = (name: (typeof CREW_STEPS)[number], occurredAt?: string) =>
  ({ kind: 'step', step: name, occurredAt }) as const;

describe('what is kept', () => {
  const pairs = KINDS.flatMap((kind) => TOW_STATES.map((state) => ({ kind, state })));

  test.each(pairs.filter(({ kind, state }) => TAKEN[kind].includes(state)))(
    '$kind is taken for a tow that is $state, and changes nothing else of it',
    ({ kind, state }) => {
      const tow = deepFreeze(towWith(state, { holds: [OPEN_HOLD] }));
      const decision = keep(tow, SHORTEST[kind], context);
      if (!decision.ok) throw new Error(decision.refusal.code);
      expect({ ...decision.tow, dispatch: tow.dispatch }).toEqual(tow);
      expect(decision.tow.dispatch).not.toEqual(tow.dispatch);
    },
  );

  test.each(pairs.filter(({ kind, state }) => !TAKEN[kind].includes(state)))(
    '$kind is refused for a tow that is $state',
    ({ kind, state }) => {
      const isOver = state === 'released' || state === 'canceled';
      const refusal = refusalOf(keep(towWith(state, { holds: [OPEN_HOLD] }), SHORTEST[kind], context));
      expect(refusal).toMatchObject({ kind: 'conflict', code: isOver ? 'tow_is_over' : `${kind}_not_allowed` });
    },
  );
});

describe('an assignment', () => {
  const assigned = after(towAs('requested'), SHORTEST.assign);

  test('names crew and truck, when and by whom', () => {
    expect(assigned.dispatch.assignment).toEqual({ crew: 'Crew 7', truck: 'T-12', at: NOW, by: 'dispatch' });
    expect(after(towAs('requested'), { kind: 'assign', crew: 'Crew 7' }).dispatch.assignment?.truck).toBeNull();
  });

  test('that says what is known is refused: already_recorded', () => {
    expect(refusalOf(keep(assigned, SHORTEST.assign, context)).code).toBe('already_recorded');
  });

  test('to another truck leaves the steps as they are', () => {
    const driving = after(assigned, step('en_route'), { kind: 'assign', crew: 'Crew 7', truck: 'T-13' });
    expect(driving.dispatch.steps.map((taken) => taken.step)).toEqual(['en_route']);
  });

  test('to another crew begins the steps anew', () => {
    const other = after(assigned, step('accepted'), step('on_scene'), { kind: 'assign', crew: 'Crew 8' });
    expect(other.dispatch).toMatchObject({ assignment: { crew: 'Crew 8', truck: null }, steps: [] });
    expect(after(other, step('accepted')).dispatch.steps).toHaveLength(1);
  });

  test('that comes after the first steps keeps them', () => {
    const late = after(towAs('requested'), step('accepted'), SHORTEST.assign);
    expect(late.dispatch.steps.map((taken) => taken.step)).toEqual(['accepted']);
  });

  test('can be taken back, with the steps of its crew', () => {
    const free = after(assigned, step('accepted'), { kind: 'assign', crew: null });
    expect(free.dispatch).toEqual(NO_DISPATCH);
  });

  test('cannot be taken back where there is none', () => {
    expect(refusalOf(keep(towAs('requested'), { kind: 'assign', crew: null }, context)).code).toBe('not_assigned');
  });

  test('of nobody has no truck', () => {
    const refusal = refusalOf(keep(assigned, { kind: 'assign', crew: null, truck: 'T-1' }, context));
    expect([refusal.kind, refusal.details.map(({ field }) => field)]).toEqual(['invalid', ['truck']]);
  });
});

describe('a step of the crew', () => {
  const PAIRS = CREW_STEPS.flatMap((first, at) =>
    CREW_STEPS.map((second, then) => ({ first, second, order: then - at })),
  );

  test.each(PAIRS.filter(({ order }) => order > 0))('$second is taken after $first, whatever lies between', (pair) => {
    const { steps } = after(towAs('requested'), step(pair.first), step(pair.second)).dispatch;
    expect(steps.map((taken) => taken.step)).toEqual([pair.first, pair.second]);
  });

  test.each(PAIRS.filter(({ order }) => order < 0))('$second is refused after $first', (pair) => {
    const refusal = refusalOf(keep(after(towAs('requested'), step(pair.first)), step(pair.second), context));
    expect(refusal).toMatchObject({ kind: 'conflict', code: 'step_not_allowed' });
  });

  test.each(CREW_STEPS)('%s is never told twice', (name) => {
    const refusal = refusalOf(keep(after(towAs('started'), step(name)), step(name), context));
    expect(refusal).toMatchObject({ kind: 'conflict', code: 'already_recorded' });
  });

  test('needs no assignment, and keeps when it was told and by whom', () => {
    const told = step('on_scene', minutesFromNow(-5));
    expect(keptOn(keep(towAs('requested'), told, context)).steps).toEqual([
      { step: 'on_scene', occurredAt: minutesFromNow(-5), recordedAt: NOW, by: 'dispatch' },
    ]);
  });

  test('without a moment happens now, or with the step before where that lies ahead of our clock', () => {
    expect(keptOn(keep(towAs('requested'), step('accepted'), context)).steps[0]?.occurredAt).toBe(NOW);
    const ahead = after(towAs('requested'), step('accepted', minutesFromNow(1)), step('en_route'));
    expect(ahead.dispatch.steps[1]?.occurredAt).toBe(minutesFromNow(1));
  });

  test('keeps UTC as written and turns another offset into Z', () => {
    expect(after(towAs('requested'), step('accepted', '2026-03-10T11:00Z')).dispatch.steps[0]?.occurredAt).toBe(
      '2026-03-10T11:00Z',
    );
    expect(after(towAs('requested'), step('accepted', '2026-03-10T14:00+03:00')).dispatch.steps[0]?.occurredAt).toBe(
      '2026-03-10T11:00:00.000Z',
    );
  });

  test.each([
    ['more than 2 minutes ahead', minutesFromNow(3)],
    ['before the step before it', minutesFromNow(-11)],
    ['no moment', 'at noon'],
  ])('is refused when its moment is %s', (_what, occurredAt) => {
    const tow = after(towAs('requested'), step('accepted', minutesFromNow(-10)));
    const refusal = refusalOf(keep(tow, step('en_route', occurredAt), context));
    expect([refusal.kind, refusal.details.map(({ field }) => field)]).toEqual(['invalid', ['occurred_at']]);
  });

  test('may be told late: a fact that came before it does not bind its moment', () => {
    expect(after(towAs('started'), step('hooked', '2026-03-10T09:55:00Z')).dispatch.steps).toHaveLength(1);
  });
});

describe('the yard', () => {
  const parked = after(towAs('detained'), SHORTEST.yard);

  test('and its slot replace the ones before', () => {
    expect(parked.dispatch.yard).toEqual({ yard: 'North', slot: 'B4', at: NOW, by: 'dispatch' });
    expect(after(parked, { kind: 'yard', yard: 'North' }).dispatch.yard).toMatchObject({ yard: 'North', slot: null });
  });

  test('that is known already is refused: already_recorded', () => {
    expect(refusalOf(keep(parked, SHORTEST.yard, context)).code).toBe('already_recorded');
  });
});

describe('a hold', () => {
  const held = after(towAs('started'), SHORTEST.hold);

  test('keeps why, when and by whom, and stands open beside others', () => {
    const two = after(held, { kind: 'hold', holdId: 'h2', reason: 'owner disputes' });
    expect(two.dispatch.holds).toEqual([
      { id: 'h1', reason: 'police', at: NOW, by: 'dispatch', lifted: null },
      { id: 'h2', reason: 'owner disputes', at: NOW, by: 'dispatch', lifted: null },
    ]);
  });

  test('for the same reason is refused while it is open, naming it, and taken again once it is lifted', () => {
    const again = { kind: 'hold', holdId: 'h2', reason: 'police' } as const;
    const refusal = refusalOf(keep(held, again, context));
    expect([refusal.code, refusal.message]).toEqual(['already_recorded', expect.stringContaining('h1')]);
    const lifted = after(held, { kind: 'lift', holdId: 'h1', reason: 'settled' });
    expect(after(lifted, again).dispatch.holds).toHaveLength(2);
  });

  test('is lifted once, and stays on record', () => {
    const lifted = after(held, { kind: 'lift', holdId: 'h1', reason: 'settled' });
    expect(lifted.dispatch.holds).toMatchObject([
      { id: 'h1', reason: 'police', lifted: { reason: 'settled', at: NOW, by: 'dispatch' } },
    ]);
    const again = keep(lifted, { kind: 'lift', holdId: 'h1', reason: 'settled' }, context);
    expect(refusalOf(again)).toMatchObject({ kind: 'conflict', code: 'already_recorded' });
  });

  test('that does not exist cannot be lifted', () => {
    expect(refusalOf(keep(held, { kind: 'lift', holdId: 'h9', reason: 'x' }, context))).toMatchObject({
      kind: 'unknown',
      code: 'hold_not_found',
    });
  });

  test('is the last one at some number, lifted ones included', () => {
    const lifted = { reason: 'settled', at: NOW, by: 'office' };
    const holds = Array.from({ length: HOLDS_MAX }, (_, index) => ({ ...OPEN_HOLD, id: `x${index}`, lifted }));
    expect(refusalOf(keep(towWith('started', { holds }), SHORTEST.hold, context)).code).toBe('too_many_holds');
    expect(keep(towWith('started', { holds: holds.slice(1) }), SHORTEST.hold, context).ok).toBe(true);
  });
});

describe('a note', () => {
  test('is added behind the others, also when it says the same', () => {
    const { notes } = after(towAs('released'), SHORTEST.note, { kind: 'note', text: 'again' }, SHORTEST.note).dispatch;
    expect(notes.map(({ text }) => text)).toEqual([SHORTEST.note.text, 'again', SHORTEST.note.text]);
    expect(notes[0]).toEqual({ text: SHORTEST.note.text, at: NOW, by: 'dispatch' });
  });

  test('is the last one at some number', () => {
    const notes = Array.from({ length: NOTES_MAX }, () => ({ text: 'x', at: NOW, by: 'office' }));
    expect(refusalOf(keep(towWith('started', { notes }), SHORTEST.note, context)).code).toBe('too_many_notes');
  });
});
