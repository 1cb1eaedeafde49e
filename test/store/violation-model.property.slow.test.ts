import { refusedTask } from '../../src/domain/outbox/escalate-entry';
import * as fc from 'fast-check';
import type { ViolationCommand } from '../../src/domain/violation/decide-violation';
import { versionNumber } from '../../src/domain/outbox/outbox-record';
import { KEYS } from '../../src/store/keys';
import type { AttemptResult } from '../../src/domain/outbox/attempt';
import { NOT_SENT, NO_TOKEN, refusedWith } from '../support/exchanges';
import type { ClaimedViolation, ViolationOutbox } from '../support/outboxes';
import { walk } from '../support/conservation';
import { useStores } from '../support/stores';
import { decide, join, openOutbox, outcome, readViolation, report, takenAs, violationOf } from '../support/violations';
import { changeEntry, endLease, letTry, readEntry } from '../support/stored-records';

const stores = useStores();

const ID = 'U1';
const HASH = '{towhook-main}:violation:U1';
const U1 = { violationId: 'U1' };
/** The weight of each step. Steps that settle the violation are rare, or most stories would be short. */
const STEPS = {
  work: 8,
  'time passes': 5,
  'answer: unknown': 2,
  'answer: failed': 2,
  'answer: not sent': 1,
  'answer: no connection': 1,
  'answer: refused': 1,
  'answer: late': 2,
  'answer: accepted': 1,
  'lose the worker': 2,
  release: 1,
  retry: 2,
  correct: 1,
  'tow request': 1,
  waive: 1,
  accept: 1,
} as const;
type Step = keyof typeof STEPS;

const REFUSED = refusedTask({ kind: 'violation', id: ID, httpStatus: 400, message: 'no', hint: null });
const RETRY = { next: 'retry', delayMs: 600_000 } as const;
const BROKEN = { next: 'hold', delayMs: 0, because: 'connection' } as const;
const ANSWERS = {
  'answer: accepted': takenAs('V-1'),
  'answer: refused': outcome({ next: 'refused', hint: null }, { exchange: refusedWith(400, 'no'), task: REFUSED }),
  'answer: failed': outcome({ ...RETRY, because: 'failed' }),
  'answer: not sent': outcome({ ...RETRY, because: 'surely_not_sent' }, { exchange: NOT_SENT }),
  'answer: no connection': outcome(BROKEN, { exchange: NO_TOKEN }),
  'answer: unknown': outcome({ next: 'unknown', delayMs: 600_000 }),
} as const satisfies Partial<Record<Step, AttemptResult>>;
type Answer = keyof typeof ANSWERS;
const STATES = ['pending', 'held', 'sending', 'unknown', 'refused', 'accepted', 'waived'];

function stepOf(name: string): Step {
  const isStep = (some: string): some is Step => Object.hasOwn(STEPS, some);
  if (!isStep(name)) throw new Error(`no such step: ${name}`);
  return name;
}

/** Runs steps against one violation, as workers, the service and users do, and collects what is wrong. */
class World {
  readonly wrongs: string[] = [];
  #outbox: ViolationOutbox;
  #claimed: ClaimedViolation | null = null;
  #lost: ClaimedViolation | null = null;
  /** A call may have created the violation, and neither an answer nor a manual retry has followed. */
  #isOpen = false;
  #settledAs: string | null = null;

  constructor(readonly checksTicket: boolean) {
    this.#outbox = openOutbox(stores, { leaseMs: 600_000, graceMs: 600_000, checksTicket });
  }

  async play(step: Step): Promise<void> {
    const before = await readViolation(stores, ID);
    switch (step) {
      case 'work':
        return this.#work();
      case 'lose the worker':
        this.#lost = this.#claimed ?? this.#lost;
        if (this.#claimed) this.#isOpen = true;
        this.#claimed = null;
        await endLease(stores.redis, HASH);
        return;
      case 'time passes': {
        const { ticketFailures } = await readEntry(stores.redis, U1, 1);
        if (before.nextAtMs !== null) await changeEntry(stores.redis, U1, 1, { nextAtMs: 1 });
        if (ticketFailures > 1 && before.giveUpAtMs !== null) await changeEntry(stores.redis, U1, 1, { giveUpAtMs: 1 });
        return;
      }
      case 'release': {
        const claimed = this.#claimed;
        this.#claimed = null;
        if (claimed) await this.#outbox.giveBack(claimed, { kind: 'images_unseen', delayMs: 0 });
        return;
      }
      case 'tow request':
        await join(stores, ID, { towingReference: 'TW-1', reference: 'V-1' });
        return;
      case 'retry':
      case 'correct':
      case 'waive':
      case 'accept':
        return this.#decide(step, before);
      case 'answer: late':
        if (this.#lost) await this.#outbox.settle(this.#lost, takenAs('V-1'));
        return;
      case 'answer: accepted':
      case 'answer: refused':
      case 'answer: failed':
      case 'answer: not sent':
      case 'answer: no connection':
      case 'answer: unknown':
        return this.#answer(step);
    }
  }

  async #work(): Promise<void> {
    const claim = await this.#outbox.claim(ID);
    switch (claim.kind) {
      case 'send':
        if (this.#claimed) this.wrongs.push('two workers may send at once');
        if (this.#isOpen) this.wrongs.push('sent again without a manual retry although it may have been created');
        if (this.#settledAs) this.wrongs.push(`sent although it is ${this.#settledAs}`);
        this.#claimed = claim;
        return;
      case 'check': {
        if (versionNumber(claim.record.version) % 3 === 0) {
          const error = { http_status: 500, message: 'no' };
          await this.#outbox.giveBack(claim, { kind: 'ticket_unknown', delayMs: 600_000, error });
          return;
        }
        const hasActiveTicket = claim.entry.attempts % 2 === 0;
        await this.#outbox.giveBack(claim, { kind: 'ticket_known', hasActiveTicket });
        return;
      }
      case 'cleanup':
        return this.#outbox.completeCleanup(claim.record);
      case 'escalated':
      case 'probe':
      case 'idle':
      case 'needs_action':
      case 'gone':
      case 'wait':
      case 'busy':
        return;
    }
  }

  async #answer(step: Answer): Promise<void> {
    const claimed = this.#claimed;
    if (!claimed) return;
    this.#claimed = null;
    if (step === 'answer: unknown') this.#isOpen = true;
    await this.#outbox.settle(claimed, ANSWERS[step]);
    if (step === 'answer: no connection') await letTry(stores.redis, 'connection');
  }

  /** Decides as the workflow allows: never while settled or in flight, and no correction while unknown. */
  async #decide(action: ViolationCommand['action'], before: Awaited<ReturnType<typeof readViolation>>): Promise<void> {
    const isOver = before.state === 'accepted' || before.state === 'waived';
    if (isOver || before.attemptId !== null || (action === 'correct' && before.state === 'unknown')) return;
    const commands: Record<typeof action, ViolationCommand> = {
      retry: { action: 'retry' },
      correct: { action: 'correct', fields: { plateNumber: before.violation.form.plateNumber } },
      waive: { action: 'waive', reason: 'no' },
      accept: { action: 'accept', reason: 'seen', reference: null },
    };
    if ((await decide(stores, ID, commands[action])) !== 'saved') return;
    if (action === 'retry' || action === 'correct') this.#isOpen = false;
  }

  /** Checks the stored state after a step. */
  async check(): Promise<void> {
    // One write for all questions about the indexes: a round trip for each would make up most of the time of this test.
    const questions = stores.redis.pipeline().hexists(KEYS.tasks, `violation.${ID}`);
    for (const one of STATES) questions.zscore(`${KEYS.indexViolations}:${one}`, ID);
    const [{ state, attemptId, attempts, waitsFor }, { violations }, answers] = await Promise.all([
      readViolation(stores, ID),
      walk(stores.redis),
      questions.exec(),
    ]);
    const [isAskedFor, ...scores] = (answers ?? []).map(([error, answer]) => {
      if (error) throw error;
      return answer;
    });
    if (this.#settledAs && state !== this.#settledAs) this.wrongs.push(`${this.#settledAs} became ${state}`);
    if (state === 'accepted' || state === 'waived') this.#settledAs = state;
    if (this.#claimed && attemptId === null) this.wrongs.push('an attempt in flight is not stored');
    if (waitsFor === 'ticket_check' && state !== 'pending') this.wrongs.push(`${state} with a pending ticket check`);
    if (attempts < 0) this.wrongs.push('a negative number of attempts');
    if (violations.lost > 0) this.wrongs.push('lost');
    const isAsked = isAskedFor === 1;
    const needsPerson = state === 'held' || state === 'refused';
    if (needsPerson && !isAsked) this.wrongs.push(`${state} without a task`);
    if (this.#settledAs && isAsked) this.wrongs.push(`${state} with an open task`);
    if (scores.filter((score) => score !== null).length !== 1) this.wrongs.push('not listed in exactly one state');
  }
}

test('a violation is never sent twice without a manual retry, never lost and stays settled under random events', async () => {
  const steps = fc.array(
    fc.oneof(...Object.entries(STEPS).map(([step, weight]) => ({ weight, arbitrary: fc.constant(stepOf(step)) }))),
    { minLength: 10, maxLength: 40 },
  );
  const setting = fc.record({ checksTicket: fc.boolean(), isGuide: fc.boolean(), steps });
  await fc.assert(
    fc.asyncProperty(setting, async ({ checksTicket, isGuide, steps: played }) => {
      await stores.redis.flushdb();
      const violation = violationOf(ID, { api: isGuide ? 'guide' : 'reference' });
      const form = { ...violation.form, violationType: 'NO_TICKET' } as const;
      await report(stores, { ...violation, form });
      const world = new World(checksTicket);
      for (const step of played) {
        await world.play(step);
        await world.check();
        expect([step, ...world.wrongs]).toEqual([step]);
      }
    }),
    { numRuns: 80 },
  );
}, 600_000);
