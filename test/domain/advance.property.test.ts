import * as fc from 'fast-check';
import { advance } from '../../src/domain/tow/facts';
import type { Tow } from '../../src/domain/tow/tow';
import { timestampMs } from '../../src/domain/timestamp';
import { after, ALLOWED, contextOf, newWorld, stories, type StoryStep, type StoryWorld } from './stories';
import { COMMANDS, deepFreeze } from './tows';

/** Tells a story and hands every step of it, with the worlds around it, to `look`. */
function tell(
  story: readonly StoryStep[],
  look: (before: StoryWorld, step: StoryStep, decision: ReturnType<typeof advance>) => void,
) {
  let world = newWorld();
  for (const step of story) {
    const before = deepFreeze(world);
    const decision = advance(before.tow, deepFreeze(step.command), deepFreeze(contextOf(before, step)));
    look(before, step, decision);
    world = after(before, step, decision);
  }
  return world;
}

/** Moments of the field in the order in which they were recorded. */
const fieldMoments = (tow: Tow) =>
  tow.facts.filter(({ event }) => event !== 'invoice').map(({ occurredAt }) => timestampMs(occurredAt) ?? Number.NaN);

const runs = { numRuns: 500 };

const step = (command: StoryStep['command']): StoryStep => ({
  minutesLater: 1,
  role: 'ops',
  command,
  settled: null,
  webhook: false,
});
/** Stories that reach the release are rare. */
const RELEASED = [step(COMMANDS.started), step(COMMANDS.detained), step(COMMANDS.released)];
/** Stories in which something is withdrawn are rare. */
const WITHDRAWN = [step(COMMANDS.started), step(COMMANDS.invoice), step(COMMANDS.canceled)];

describe('advance, for any commands in any order', () => {
  test('any commands move a tow only along the transition table, and every state is reached', () => {
    const reached = new Set<string>();
    fc.assert(
      fc.property(stories, (story) => {
        tell(story, ({ tow }, { command }, decision) => {
          if (!decision.ok) return;
          const isMove = command.event !== 'invoice' && command.event !== 'payment';
          expect(decision.tow.state).toBe(isMove ? command.event : tow.state);
          expect(isMove ? ALLOWED : ['no move']).toContain(isMove ? `${tow.state} > ${command.event}` : 'no move');
          reached.add(decision.tow.state);
        });
      }),
      { ...runs, examples: [[RELEASED]] },
    );
    // Guards against a run in which everything was refused.
    expect([...reached]).toEqual(expect.arrayContaining(['started', 'detained', 'released', 'canceled']));
  });

  test('every accepted command adds one fact to the tow, and no fact changes or is lost', () => {
    let recordedFacts = 0;
    fc.assert(
      fc.property(stories, (story) => {
        tell(story, ({ tow }, { command }, decision) => {
          if (!decision.ok) return;
          recordedFacts += 1;
          expect(decision.tow.facts.slice(0, -1)).toEqual(tow.facts);
          expect(decision.tow.facts.at(-1)?.event).toBe(command.event);
          expect(decision.owed.kind).toBe(command.event);
        });
      }),
      runs,
    );
    expect(recordedFacts).toBeGreaterThan(runs.numRuns / 2);
  });

  test('advance returns the same decision for the same input and changes no input', () => {
    fc.assert(
      fc.property(stories, (story) => {
        // Every input is deeply frozen by `tell`: touching one throws.
        tell(story, (before, step, decision) => {
          const copy = structuredClone({ tow: before.tow, command: step.command, context: contextOf(before, step) });
          expect(advance(copy.tow, copy.command, copy.context)).toEqual(decision);
          expect(copy).toEqual({ tow: before.tow, command: step.command, context: contextOf(before, step) });
        });
      }),
      runs,
    );
  });

  test('a refused command changes nothing and returns its reason', () => {
    let refused = 0;
    fc.assert(
      fc.property(stories, (story) => {
        tell(story, (before, step, decision) => {
          if (decision.ok) return;
          refused += 1;
          expect(Object.keys(decision).toSorted()).toEqual(['ok', 'refusal']);
          expect(decision.refusal.code).toMatch(/^[a-z]+(_[a-z]+)*$/);
          expect(decision.refusal.message).not.toBe('');
          expect(after(before, { ...step, settled: null, webhook: false }, decision).tow).toBe(before.tow);
        });
      }),
      runs,
    );
    expect(refused).toBeGreaterThan(runs.numRuns);
  });

  test('the times of the facts of a tow never decrease', () => {
    fc.assert(
      fc.property(stories, (story) => {
        const moments = fieldMoments(tell(story, () => {}).tow);
        expect(moments).toEqual(moments.toSorted((a, b) => a - b));
      }),
      runs,
    );
  });

  test('a tow owes at most one invoice, one payment per status and none after PAID, except those taken back', () => {
    fc.assert(
      fc.property(stories, (story) => {
        const { tow, reports } = tell(story, () => {});
        const ofPayments = reports.filter(({ kind }) => kind === 'payment');
        expect(ofPayments).toHaveLength(tow.payments.length);
        const counted = tow.payments.filter((_payment, index) => ofPayments[index]?.state !== 'waived');
        const statuses = counted.map(({ paymentStatus }) => paymentStatus);
        expect(reports.filter(({ kind }) => kind === 'invoice').length).toBeLessThanOrEqual(1);
        expect(statuses).toEqual([...new Set(statuses)]);
        expect(statuses.slice(0, -1)).not.toContain('PAID');
      }),
      runs,
    );
  });

  test('only a cancel withdraws reports: every invoice and payment that surely had no effect, and nothing else', () => {
    let withdrawn = 0;
    fc.assert(
      fc.property(stories, (story) => {
        tell(story, ({ reports }, { command }, decision) => {
          if (!decision.ok) return;
          withdrawn += decision.withdraw.length;
          const idle = reports.filter((r) => r.state === 'pending' && r.attemptId === null && r.possibleEffects === 0);
          const money = idle.filter(({ kind }) => kind === 'invoice' || kind === 'payment');
          expect(decision.withdraw).toEqual(command.event === 'canceled' ? money.map(({ id }) => id) : []);
        });
      }),
      { ...runs, examples: [[WITHDRAWN]] },
    );
    expect(withdrawn).toBeGreaterThan(0);
  });
});
