import { refusedTask } from '../../src/domain/outbox/escalate-entry';
import type { ReportCommand } from '../../src/domain/outbox/decide-report';
import type { FactCommand } from '../../src/domain/tow/fact-command';
import type { Verdict } from '../../src/domain/service/policy';
import type { ReportKind } from '../../src/domain/vocabulary';
import { systemClock } from '../../src/platform/clock';
import { pause } from '../../src/platform/timers';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { decideReport } from '../../src/workflow/outbox/decide';
import { recordFact } from '../../src/workflow/tow/record-fact';
import { NOT_SENT, refusedWith } from '../support/exchanges';
import { NO_LIMITS, reportIn, type ClaimedReport, type TowClaim } from '../support/outboxes';
import { ACCEPTED, openStores, result } from '../support/stores';
import type { Answer, Granted, CoreOperation } from './operations';

/** The product as one process uses it: everything that a story calls. */
export interface Core {
  run(operation: CoreOperation): Promise<Answer>;
  close(): void;
}

/** Longer than any story. */
const LEASE_MS = 300_000;
/** Clocks of two processes may differ by a millisecond; what is due now for one is due in a moment for the other. */
const CLOCKS_DIFFER_MS = 20;

export async function openCore(redisUrl: string): Promise<Core> {
  const stores = await openStores(redisUrl);
  const outboxWith = (leaseMs: number) =>
    createTowOutbox(stores.redis, systemClock, { leaseMs, graceMs: 0, ...NO_LIMITS });
  const [steady, lost] = [outboxWith(LEASE_MS), outboxWith(0)];
  const actor = { id: 'k1', name: 'tester', role: 'ops' } as const;
  const granted = new Map<string, ClaimedReport>();

  const noted = (claim: TowClaim): Granted => {
    if (claim.kind !== 'send') return { kind: claim.kind, reportId: null, attemptId: null };
    granted.set(claim.attemptId, claim);
    return { kind: 'send', reportId: claim.entry.id, attemptId: claim.attemptId };
  };
  const claim = async (ref: string, isLost: boolean): Promise<TowClaim> => {
    const claimed = await (isLost ? lost : steady).claim(ref);
    const isOverSoon = 'untilMs' in claimed && claimed.untilMs <= Date.now() + CLOCKS_DIFFER_MS;
    if (!isOverSoon) return claimed;
    await pause(1);
    return claim(ref, isLost);
  };

  return {
    async run(operation) {
      const { ref } = operation;
      switch (operation.do) {
        case 'say': {
          const effect = await recordFact(stores.progress, { ref, command: factOf(operation.event), actor });
          return { kind: effect.kind, next: null };
        }
        case 'decide': {
          const { reportId, action } = operation;
          const effect = await decideReport(stores.progress, {
            ref,
            reportId,
            command: commandOf(action, reportId),
            actor,
          });
          return { kind: effect.kind, next: null };
        }
        case 'receive':
          await stores.acceptInvoice(ref, operation.id);
          return { kind: 'done', next: null };
        case 'attach':
          await stores.process(operation.id);
          return { kind: 'done', next: null };
        case 'claim': {
          const next = noted(await claim(ref, operation.isLost));
          return { kind: next.kind, next };
        }
        case 'settle': {
          const right = granted.get(operation.attemptId);
          if (!right) throw new Error('this process has no such attempt');
          const ended = result(...endOf(operation.outcome, reportIn(right)));
          const stored = await steady.settle(right, ended, operation.goesOn);
          return { kind: stored.kind, next: stored.next && noted(stored.next) };
        }
      }
    },
    close: () => stores.close(),
  };
}

function factOf(event: Extract<CoreOperation, { do: 'say' }>['event']): FactCommand {
  switch (event) {
    case 'detained':
    case 'released':
      return { event };
    case 'invoice':
      return { event, vehicleType: 'HEAVY' };
    case 'payment':
      return { event, paymentStatus: 'PAID' };
    case 'canceled':
      return { event, cancellationReason: 'Gone on arrival' };
  }
}

function commandOf(action: Extract<CoreOperation, { do: 'decide' }>['action'], reportId: string): ReportCommand {
  switch (action) {
    case 'retry':
      return { action };
    case 'accept':
    case 'waive':
      return { action, reason: 'a test' };
    case 'correct':
      return { action, fields: correctionOf(reportId) };
  }
}

function correctionOf(reportId: string): Record<string, string | number> {
  if (reportId.startsWith('started')) return { towed_location: 'King Fahd Road' };
  if (reportId.startsWith('invoice')) return { delay_in_days: 1 };
  if (reportId.startsWith('canceled')) return { cancellation_reason: 'Wrong vehicle' };
  return {};
}

function endOf(
  outcome: Extract<CoreOperation, { do: 'settle' }>['outcome'],
  report: { id: string; kind: ReportKind },
): Parameters<typeof result> {
  const retry = (because: 'surely_not_sent' | 'unanswered'): Verdict => ({ next: 'retry', delayMs: 0, because });
  switch (outcome) {
    case 'accepted':
      return [ACCEPTED];
    case 'refused': {
      const task = refusedTask({ ...report, httpStatus: 400, message: null, hint: null });
      return [
        { next: 'refused', hint: null },
        { exchange: refusedWith(400), task },
      ];
    }
    case 'unknown':
      return [report.kind === 'invoice' ? { next: 'unknown', delayMs: 0 } : retry('unanswered')];
    case 'not_sent':
      return [retry('surely_not_sent'), { exchange: NOT_SENT }];
  }
}
