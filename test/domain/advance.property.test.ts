import * as fc from 'fast-check';
import { advance } from '../../src/domain/advance';
import type { Tow } from '../../src/domain/tow';
import { momentMs } from '../../src/domain/moment';
import { after, ALLOWED, contextOf, newWorld, stories, type Step, type World } from './stories';
import { deepFreeze } from './tows';

/** Tells a story and hands every step of it, with the worlds around it, to `look`. */
function tell(story: readonly Step[], look: (before: World, step: Step, decision: ReturnType<typeof advance>) => void) {
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
  tow.facts.filter(({ event }) => event !== 'invoice').map(({ occurredAt }) => momentMs(occurredAt) ?? Number.NaN);

const runs = { numRuns: 500 };

describe('whatever commands come, in whatever order', () => {
  test('a tow moves only along the table, and every state is reached', () => {
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
      runs,
    );
    // Guards against a run in which everything was refused.
    expect([...reached]).toEqual(expect.arrayContaining(['started', 'detained', 'released', 'canceled']));
  });

  test('facts only grow: one per accepted command, none is changed or lost', () => {
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
    expect(recordedFacts).toBeGreaterThan(runs.numRuns);
  });

  test('the same question always gets the same answer, and no input is touched', () => {
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

  test('a refused command changes nothing and says why', () => {
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

  test('times never run backwards from fact to fact', () => {
    fc.assert(
      fc.property(stories, (story) => {
        const moments = fieldMoments(tell(story, () => {}).tow);
        expect(moments).toEqual(moments.toSorted((a, b) => a - b));
      }),
      runs,
    );
  });

  test('one invoice is owed at most, one payment per status, and none after PAID, but for those taken back', () => {
    fc.assert(
      fc.property(stories, (story) => {
        const { tow, reports } = tell(story, () => {});
        const ofPayments = reports.filter(({ kind }) => kind === 'payment');
        expect(ofPayments).toHaveLength(tow.payments.length);
        const standing = tow.payments.filter((_payment, index) => ofPayments[index]?.state !== 'waived');
        const statuses = standing.map(({ paymentStatus }) => paymentStatus);
        expect(reports.filter(({ kind }) => kind === 'invoice').length).toBeLessThanOrEqual(1);
        expect(statuses).toEqual([...new Set(statuses)]);
        expect(statuses.slice(0, -1)).not.toContain('PAID');
      }),
      runs,
    );
  });

  test('only a cancel withdraws: every invoice and payment that surely had no effect, and nothing else', () => {
    let withdrawn = 0;
    fc.assert(
      fc.property(stories, (story) => {
        tell(story, ({ reports }, { command }, decision) => {
          if (!decision.ok) return;
          withdrawn += decision.withdraw.length;
          const idle = reports.filter((r) => r.state === 'pending' && !r.inFlight && !r.mayHaveHadEffect);
          const money = idle.filter(({ kind }) => kind === 'invoice' || kind === 'payment');
          expect(decision.withdraw).toEqual(command.event === 'canceled' ? money.map(({ id }) => id) : []);
        });
      }),
      runs,
    );
    expect(withdrawn).toBeGreaterThan(0);
  });
});
