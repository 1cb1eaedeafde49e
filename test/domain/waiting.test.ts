import * as fc from 'fast-check';
import { orUnknown } from '../../src/domain/stored';
import { WAIT_REASONS } from '../../src/domain/outbox/entry';
import { isSettled } from '../../src/domain/outbox/outbox';
import { waitingOf, waitingOfReport, type Waiting, type WaitingReport } from '../../src/domain/outbox/waiting';
import { ENTRY_KINDS, REPORT_KINDS, REPORT_STATES, TOW_STATES, HINTS } from '../../src/domain/vocabulary';
import { nowMs } from './tows';

const LAST_ERROR = { http_status: 500, message: 'Internal Server Error' };

const reportAs = (changes: Partial<WaitingReport> = {}): WaitingReport => ({
  id: 'started-1',
  kind: 'started',
  state: 'pending',
  attemptId: null,
  attempts: 0,
  nextAtMs: nowMs,
  waitsFor: null,
  error: null,
  hint: null,
  ...changes,
});

const waiting = (reports: readonly WaitingReport[], more: Partial<Parameters<typeof waitingOf>[0]> = {}): Waiting =>
  waitingOf({ state: 'started', reports, tasks: [], nowMs, ...more });

/** What an entry waits for, also by the word of another version. */
const asStored = (text: string) => orUnknown(WAIT_REASONS).parse(text);

const STARTED = { reportId: 'started-1', reportKind: 'started' } as const;
const accepted = reportAs({ state: 'accepted' });

describe('waitingOf without an unsettled report', () => {
  test.each([
    ['requested', ['started', 'canceled']],
    ['started', ['detained', 'canceled', 'released']],
    ['detained', ['released', 'canceled']],
  ] as const)('a tow that is %s waits for people to record the next fact: %j', (state, facts) => {
    expect(waiting([accepted], { state })).toEqual({ kind: 'people', facts, blockers: [], taskIds: [] });
  });

  test('waitingOf lists what blocks the release of a tow', () => {
    const blockers = ['no_open_hold', 'payment_recorded'] as const;
    expect(waiting([accepted], { state: 'detained', blockers })).toEqual({
      kind: 'people',
      facts: ['canceled'],
      blockers,
      taskIds: [],
    });
  });

  test('a finished tow without an open task waits for nothing', () => {
    expect(waiting([accepted], { state: 'released' })).toEqual({ kind: 'over' });
    expect(waiting([], { state: 'canceled' })).toEqual({ kind: 'over' });
    const tasks = [{ id: 'invoice_mismatch.T1', type: 'invoice_mismatch' }];
    expect(waiting([accepted], { state: 'released', tasks })).toEqual({
      kind: 'people',
      facts: [],
      blockers: [],
      taskIds: ['invoice_mismatch.T1'],
    });
  });
});

describe('waitingOf with an unsettled report', () => {
  test('a tow with a due report waits for a free worker', () => {
    expect(waiting([accepted, reportAs({ id: 'detained-2', kind: 'detained' })])).toEqual({
      kind: 'turn',
      reportId: 'detained-2',
      reportKind: 'detained',
    });
  });

  test('a tow with a report in flight waits for the answer', () => {
    for (const report of [reportAs({ attemptId: 'a1' }), reportAs({ state: 'sending' })]) {
      expect(waiting([report])).toEqual({ ...STARTED, kind: 'on_its_way' });
    }
  });

  test('a tow waits for the next attempt of its report and shows earlier attempts and the last error', () => {
    const report = reportAs({ attempts: 4, nextAtMs: nowMs + 60_000, error: LAST_ERROR });
    expect(waiting([report])).toEqual({
      ...STARTED,
      kind: 'next_try',
      atMs: nowMs + 60_000,
      attempts: 4,
      because: LAST_ERROR,
    });
  });

  test.each(['connection', 'outage', 'budget'] as const)(
    'a tow waits for the %s even if its report has a time of its own',
    (waitsFor) => {
      for (const nextAtMs of [nowMs, nowMs + 60_000]) {
        const by = { kind: waitsFor };
        expect(waiting([reportAs({ waitsFor, nextAtMs })])).toEqual({ ...STARTED, kind: 'blocked', by });
      }
    },
  );

  test.each(ENTRY_KINDS)('a tow waits for the paused operation %s', (operation) => {
    expect(waiting([reportAs({ waitsFor: `paused.${operation}` })])).toEqual({
      ...STARTED,
      kind: 'blocked',
      by: { kind: 'paused', operation },
    });
  });

  test('a tow waits for proof of an unknown outcome, then for a worker or what blocks sending', () => {
    const report = reportAs({
      state: 'unknown',
      nextAtMs: nowMs + 9000,
      error: LAST_ERROR,
      waitsFor: 'outage',
    });
    expect(waiting([report])).toEqual({ ...STARTED, kind: 'proof', untilMs: nowMs + 9000, because: LAST_ERROR });
    const due = { ...report, nextAtMs: nowMs };
    expect(waiting([due])).toEqual({ ...STARTED, kind: 'blocked', by: { kind: 'outage' } });
    expect(waiting([{ ...due, waitsFor: null }])).toEqual({ ...STARTED, kind: 'turn' });
  });

  test("a tow that waits for a decision shows the task, the service's message and the hint", () => {
    const report = reportAs({ state: 'refused', nextAtMs: null, error: LAST_ERROR, hint: 'perhaps_already_accepted' });
    const tasks = [
      { id: 'other.T1', type: 'report_refused', report_id: 'detained-2' },
      { id: 'started-1.T1', type: 'report_refused', report_id: 'started-1' },
    ];
    const decision = {
      ...STARTED,
      kind: 'decision',
      why: 'refused',
      because: LAST_ERROR,
      hint: 'perhaps_already_accepted',
    };
    expect(waiting([report], { tasks })).toEqual({ ...decision, taskId: 'started-1.T1' });
    expect(waiting([report])).toEqual({ ...decision, taskId: null });
  });

  test.each([
    ['pending', 'given_up'],
    ['unknown', 'unknown'],
  ] as const)('a tow waits for a decision when there is no next attempt: %s is %s', (state, why) => {
    expect(waiting([reportAs({ state, nextAtMs: null })])).toMatchObject({ kind: 'decision', why });
  });

  test('a tow waits for a free worker when the stored reason is unknown', () => {
    expect(waiting([reportAs({ waitsFor: asStored('paused.everything') })]).kind).toBe('turn');
  });
});

describe('waitingOfReport', () => {
  const [first, second] = [accepted, reportAs({ id: 'invoice-2', kind: 'invoice', attempts: 1, nextAtMs: nowMs + 1 })];
  const third = reportAs({ id: 'payment-3', kind: 'payment' });
  const tow = { reports: [first, second, third], tasks: [], nowMs };

  test('waitingOfReport returns null for a settled report', () => {
    expect(waitingOfReport(first, tow)).toBeNull();
  });

  test('waitingOfReport gives the head of the outbox the same reason as its tow', () => {
    expect(waitingOfReport(second, tow)).toEqual(waitingOf({ ...tow, state: 'started' }));
    expect(waitingOfReport(second, tow)).toMatchObject({ kind: 'next_try', reportId: 'invoice-2' });
  });

  test('waitingOfReport lets a later report wait for the head of the outbox', () => {
    expect(waitingOfReport(third, tow)).toEqual({
      kind: 'behind',
      reportId: 'payment-3',
      reportKind: 'payment',
      headId: 'invoice-2',
      headKind: 'invoice',
    });
  });
});

test('every record has one waiting reason, which is about its first unsettled report', () => {
  const blocks = [...['connection', 'outage', 'budget', 'paused.invoice', 'paused.', 'anything'].map(asStored), null];
  const reports = fc.uniqueArray(
    fc.record({
      id: fc.nat({ max: 20 }).map((at) => `report-${at}`),
      kind: fc.constantFrom(...REPORT_KINDS),
      state: fc.constantFrom(...REPORT_STATES),
      attemptId: fc.option(fc.constant('a1')),
      attempts: fc.nat({ max: 30 }),
      nextAtMs: fc.option(fc.integer({ min: nowMs - 1e6, max: nowMs + 1e6 })),
      waitsFor: fc.constantFrom(...blocks),
      error: fc.option(fc.constant(LAST_ERROR)),
      hint: fc.option(fc.string().map((text) => orUnknown(HINTS).parse(text))),
    }),
    { maxLength: 6, selector: ({ id }) => id },
  );
  const tasks = fc.array(
    fc.record({ id: fc.string(), type: fc.string(), report_id: fc.option(fc.string(), { nil: undefined }) }),
  );
  const seen = new Set<string>();
  fc.assert(
    fc.property(fc.constantFrom(...TOW_STATES), reports, tasks, (state, outbox, open) => {
      const answer = waitingOf({ state, reports: outbox, tasks: open, nowMs });
      const head = outbox.find((report) => !isSettled(report.state));
      seen.add(answer.kind);
      expect('reportId' in answer ? answer.reportId : undefined).toBe(head?.id);
      for (const report of outbox) {
        const own = waitingOfReport(report, { reports: outbox, tasks: open, nowMs });
        expect(own === null).toBe(isSettled(report.state));
        expect(own?.kind === 'behind').toBe(own !== null && report.id !== head?.id);
      }
    }),
    { numRuns: 2000 },
  );
  expect([...seen].toSorted()).toEqual([
    'blocked',
    'decision',
    'next_try',
    'on_its_way',
    'over',
    'people',
    'proof',
    'turn',
  ]);
});
