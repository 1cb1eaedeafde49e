import { refusedTask } from '../../src/domain/outbox/escalate-entry';
import type { ViolationCommand } from '../../src/domain/violation/decide-violation';
import { overdueReportSince } from '../../src/store/tow/count-overdue';
import { KEYS } from '../../src/store/keys';
import { NOT_SENT, refusedWith } from '../support/exchanges';
import type { ViolationOutbox } from '../support/outboxes';
import type { IdempotencyRecord } from '../../src/workflow/transaction-port';
import { eventually } from '../support/eventually';
import { readEntry } from '../support/stored-records';
import { useStores, UNKNOWN } from '../support/stores';
import {
  claimAs,
  decide as decideOn,
  idNamed,
  mustClaimViolation,
  openOutbox,
  outcome,
  readViolation,
  report,
  reportViolations,
  takenAs,
  violationOf,
} from '../support/violations';

let outbox: ViolationOutbox;
const stores = useStores();
beforeEach(() => {
  outbox = openOutbox(stores, { checksTicket: true });
});

const RETRY = { action: 'retry' } as const;
const WAIVE = { action: 'waive', reason: 'wrong car' } as const;
const accepting = (reference: string | null) => ({ action: 'accept', reason: 'seen', reference }) as const;
const openTasks = () => stores.redis.hkeys(KEYS.tasks);
const read = () => readViolation(stores, 'U1');
const isDue = async () => (await stores.redis.zscore(KEYS.dueViolations, 'U1')) !== null;
const decide = (command: ViolationCommand, idempotency?: IdempotencyRecord) =>
  decideOn(stores, 'U1', command, idempotency);

async function refused(): Promise<void> {
  await reportViolations(stores, 'U1');
  const task = refusedTask({ kind: 'violation', id: 'U1', httpStatus: 400, message: 'Zone not found', hint: null });
  const no = { next: 'refused', hint: null } as const;
  await outbox.settle(
    await mustClaimViolation(outbox, 'U1'),
    outcome(no, { exchange: refusedWith(400, 'Zone not found'), task }),
  );
}

async function unknown(): Promise<void> {
  await reportViolations(stores, 'U1');
  await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome(UNKNOWN));
  await eventually(() => claimAs(outbox, 'U1', 'escalated'));
}

/** One that depends on a ticket. */
async function ticketQuestion(): Promise<void> {
  const violation = violationOf('U1');
  await report(stores, { ...violation, form: { ...violation.form, violationType: 'NO_TICKET' } });
}

describe('decisions on a violation', () => {
  test('a manual retry sends a violation again, closes its task and resets its failure count', async () => {
    await refused();
    expect(await decide(RETRY)).toBe('saved');

    expect(await openTasks()).toEqual([]);
    expect(await isDue()).toBe(true);
    expect(await mustClaimViolation(outbox, 'U1')).toMatchObject({ entry: { attempts: 2, failures: 0 } });
  });

  test('a manual retry sends a violation of unknown outcome once more, and escalates it again without an answer', async () => {
    await unknown();
    await decide(RETRY);

    const again = await mustClaimViolation(outbox, 'U1');
    expect(again).toMatchObject({ entry: { attempts: 2, unanswered: 1 } });
    await outbox.settle(again, outcome(UNKNOWN));

    expect(await eventually(() => claimAs(outbox, 'U1', 'escalated'))).toMatchObject({
      why: 'unknown',
      entry: { attempts: 2 },
    });
  });

  test('a manual retry of a violation of unknown outcome stays in effect when the call could not be sent', async () => {
    await unknown();
    await decide(RETRY);
    const notSent = { next: 'retry', delayMs: 0, because: 'surely_not_sent' } as const;
    await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome(notSent, { exchange: NOT_SENT }));

    expect(await mustClaimViolation(outbox, 'U1')).toMatchObject({ entry: { attempts: 3 } });
  });

  test('a correction sends the new form of a violation, which is found by its new and its old plate', async () => {
    await refused();
    const { violation } = await read();
    expect(await decide({ action: 'correct', fields: { plateNumber: 'XYZ 99' } })).toBe('saved');

    const { record, entry } = await mustClaimViolation(outbox, 'U1');
    expect(entry.revision).toBe(2);
    expect(record.violation.form).toEqual({ ...violation.form, plateNumber: 'XYZ 99' });
    for (const search of ['xyz99', 'abj1234']) {
      const found = await stores.violations.list({ state: null, search, cursor: null, limit: 5 });
      expect(found.items).toHaveLength(1);
    }
  });

  test('waiving a violation settles it without sending it and deletes its files', async () => {
    await refused();
    await decide(WAIVE);

    expect(await read()).toMatchObject({ state: 'waived', reason: 'wrong car', nextAtMs: null });
    expect(await openTasks()).toEqual([]);
    expect((await outbox.claim('U1')).kind).toBe('cleanup');
  });

  test.each([['V-1'], [null]])(
    'manual acceptance settles a violation with its reference at the service: %s',
    async (reference) => {
      await unknown();
      await decide(accepting(reference));

      expect(await read()).toMatchObject({ state: 'accepted', acceptedHow: 'by_hand', reason: 'seen', reference });
      expect(await idNamed(stores, 'V-1')).toBe(reference === null ? undefined : 'U1');
      expect(await openTasks()).toEqual([]);
    },
  );

  test('when one person waives a violation while another accepts it, only one decision takes effect', async () => {
    await refused();

    const answers = await Promise.all([decide(WAIVE), decide(accepting(null))]);

    expect(answers.toSorted()).toEqual(['saved', 'violation_settled']);
    expect((await read()).state).toBe(answers[0] === 'saved' ? 'waived' : 'accepted');
  });
});

describe('ticket check before a violation', () => {
  test('the ticket check runs before a violation, uses no rate limit permit, and the violation is sent without a ticket', async () => {
    const rateLimit = { limit: 1, windowMs: 60_000 };
    outbox = openOutbox(stores, { leaseMs: 60_000, checksTicket: true, rateLimit });
    await ticketQuestion();
    const check = await claimAs(outbox, 'U1', 'check');
    expect((await outbox.claim('U1')).kind).toBe('busy');
    expect(await read()).toMatchObject({ state: 'pending', attemptId: null, attempts: 0 });

    await outbox.giveBack(check, { kind: 'ticket_known', hasActiveTicket: false });

    expect((await read()).ticket).toMatchObject({ has_active_ticket: false });
    expect(await mustClaimViolation(outbox, 'U1')).toMatchObject({ entry: { attempts: 1 } });
  });

  test('a violation with an active ticket is escalated, and a manual retry overrides the ticket', async () => {
    await ticketQuestion();
    await outbox.giveBack(await claimAs(outbox, 'U1', 'check'), { kind: 'ticket_known', hasActiveTicket: true });
    expect(await read()).toMatchObject({ state: 'held', ticket: { has_active_ticket: true } });
    expect(await openTasks()).toEqual(['violation.U1']);
    expect(await outbox.claim('U1')).toEqual({ kind: 'needs_action' });

    await decide(RETRY);

    expect(await read()).toMatchObject({ state: 'pending', ticketOverruled: true });
    await mustClaimViolation(outbox, 'U1');
  });

  test('the ticket check is repeated for a corrected violation', async () => {
    await ticketQuestion();
    await outbox.giveBack(await claimAs(outbox, 'U1', 'check'), { kind: 'ticket_known', hasActiveTicket: true });
    await decide({ action: 'correct', fields: { plateNumber: 'XYZ 99' } });

    expect((await outbox.claim('U1')).kind).toBe('check');
  });

  test('a corrected violation is checked although a manual retry overruled the ticket of its earlier form', async () => {
    await ticketQuestion();
    await outbox.giveBack(await claimAs(outbox, 'U1', 'check'), { kind: 'ticket_known', hasActiveTicket: true });
    await decide(RETRY);
    await decide({ action: 'correct', fields: { plateNumber: 'XYZ 99' } });

    expect((await outbox.claim('U1')).kind).toBe('check');
  });

  test('a manual retry of a corrected violation does not overrule the ticket check of its new form', async () => {
    await ticketQuestion();
    await outbox.giveBack(await claimAs(outbox, 'U1', 'check'), { kind: 'ticket_known', hasActiveTicket: true });
    await decide({ action: 'correct', fields: { plateNumber: 'XYZ 99' } });
    await decide(RETRY);

    expect((await outbox.claim('U1')).kind).toBe('check');
  });

  test('a decision during the ticket check stays in effect after its answer', async () => {
    await ticketQuestion();
    const check = await claimAs(outbox, 'U1', 'check');
    await decide(WAIVE);
    await outbox.giveBack(check, { kind: 'ticket_known', hasActiveTicket: true });

    expect(await read()).toMatchObject({ state: 'waived', ticket: null });
    expect(await openTasks()).toEqual([]);
  });

  test('a ticket check without a result or with a lost worker is repeated and does not change the violation', async () => {
    await ticketQuestion();
    await outbox.giveBack(await claimAs(outbox, 'U1', 'check'), {
      kind: 'ticket_unknown',
      delayMs: 0,
      error: { http_status: null, message: 'no answer' },
    });
    expect(await read()).toMatchObject({ state: 'pending', waitsFor: 'ticket_check', attempts: 0 });
    await claimAs(outbox, 'U1', 'check');

    await eventually(() => claimAs(outbox, 'U1', 'check'));

    const entry = await readEntry(stores.redis, { violationId: 'U1' }, 1);
    expect(entry).toMatchObject({ state: 'pending', attempts: 0, failures: 0 });
  });

  test.each([
    ['with the check switched off', false, 'NO_TICKET'],
    ['of another kind', true, 'WRONG_PARKING'],
  ] as const)('no ticket check runs for a violation %s', async (_what, checksTicket, violationType) => {
    outbox = openOutbox(stores, { checksTicket });
    const violation = violationOf('U1');
    await report(stores, { ...violation, form: { ...violation.form, violationType } });

    await mustClaimViolation(outbox, 'U1');
  });
});

test('a violation with missing images is blocked without an attempt, and is sent once the images are back', async () => {
  await reportViolations(stores, 'U1');
  await outbox.giveBack(await mustClaimViolation(outbox, 'U1'), { kind: 'images_missing' });
  expect(await read()).toMatchObject({ state: 'held', attempts: 0, attemptId: null, ticketOverruled: false });

  await decide(RETRY);

  const claimed = await mustClaimViolation(outbox, 'U1');
  expect(claimed.record.ticketOverruled).toBe(false);
  expect((await outbox.settle(claimed, takenAs('V-1'))).kind).toBe('done');
});

test('a refused violation is overdue until a person settles it', async () => {
  await refused();
  const { createdAtMs } = await read();
  expect(await overdueReportSince(stores.redis, 1000, createdAtMs + 1001)).toBe(createdAtMs);
  await decide(WAIVE);
  expect(await overdueReportSince(stores.redis, 1000, createdAtMs + 1001)).toBeNull();
});
