import type { Redis } from 'ioredis';
import { acknowledgedKind, violationClaimKind, violationCounts, violationHandOver } from '../contracts/replies';
import type { ViolationRecord } from '../contracts/violations';
import { UNANSWERED_CREATES_MAX } from '../domain/policy';
import { wordTerm } from '../domain/search';
import { connectionTask, outageTask, pausedOperationTask } from '../domain/tasks';
import type { Clock } from '../platform/clock';
import type {
  ViolationClaim,
  ViolationClaimed,
  ViolationLease,
  ViolationOutbox,
  ViolationResult,
} from '../workflow/violation-port';
import { attemptJson, changesOf, delayOf } from './ack-changes';
import { slotLastsMs } from './budgets';
import { violationKeys } from './keys';
import { fields, list, text, UnexpectedReply } from './parse';
import { Script } from './scripts';
import { generalTaskJson } from './tows';
import { ACK_REPEAT_MS, CLAIM_REPEAT_MS, untilAnswered } from './until-answered';
import { violationRecordOf } from './violations';
import { wellFormedJson } from './well-formed';

const claimViolation = new Script('claim-violation');
const ackViolation = new Script('ack-violation');
const releaseViolation = new Script('release-violation');
const checkedViolation = new Script('checked-violation');
const handOverViolation = new Script('hand-over-violation');
const finishedViolation = new Script('finished-violation');

export interface ViolationOutboxSettings {
  /** How long a claim lasts; longer than the deadline of a call, equal to the lock of its queue job. */
  readonly leaseMs: number;
  /** How long a tow request may take to prove a violation whose answer was lost. */
  readonly proofMs: number;
  /** How long a violation may keep failing before a person must decide. */
  readonly giveUpAfterMs: number;
  /** Violations that may be sent in any window; limit 0 = any number. */
  readonly violationBudget: { readonly limit: number; readonly windowMs: number };
  /** Whether an active ticket is looked for before a violation that depends on one is sent. */
  readonly checksTicket: boolean;
}

/** Claim and ack of violations in Redis; see the headers of lua/claim-violation.lua and lua/ack-violation.lua. */
export function createViolationOutbox(redis: Redis, clock: Clock, settings: ViolationOutboxSettings): ViolationOutbox {
  /** Repeated for as long as it is of use: a claim that is not given back counts as a send once its lease has ended. */
  const giveBack = async ({ id, revision, leaseToken }: ViolationLease, rest: readonly (string | number)[]) => {
    const args = [id, revision, leaseToken, ...rest];
    const limitMs = settings.leaseMs;
    await untilAnswered(() => releaseViolation.run(redis, violationKeys(id), args), { clock, limitMs });
  };
  return {
    async claim(id, { hasToken } = { hasToken: true }) {
      const [leaseToken, attemptId] = [clock.id(), clock.id()];
      const { leaseMs, proofMs, violationBudget, giveUpAfterMs, checksTicket } = settings;
      const limits = [UNANSWERED_CREATES_MAX.violation, violationBudget.limit, violationBudget.windowMs, giveUpAfterMs];
      const args = [id, leaseToken, attemptId, leaseMs, proofMs, ...limits, checksTicket ? 1 : 0, hasToken ? 1 : 0];
      // Repeated with the same token: a claim whose reply was lost is given again, not left to run out.
      const reply = await untilAnswered(() => claimViolation.run(redis, violationKeys(id), args), {
        clock,
        limitMs: CLAIM_REPEAT_MS,
      });
      return claimOf(list(reply, 'claim-violation'), {
        id,
        leaseToken,
        attemptId,
        permitLastsMs: slotLastsMs(violationBudget),
      });
    },

    async ack(claimed, result) {
      // As for reports: what the service has answered must not be forgotten because Redis was away.
      const args = ackArguments(claimed, result, settings);
      const reply = await untilAnswered(() => ackViolation.run(redis, violationKeys(claimed.id), args), {
        clock,
        limitMs: ACK_REPEAT_MS,
      });
      return acknowledgedKind.parse(reply);
    },

    release: (lease, { delayMs, because }) => giveBack(lease, [delayMs, because, '', 0]),

    unchecked: (lease, { delayMs, error }) =>
      giveBack(lease, [delayMs, 'ticket_check', JSON.stringify(error), settings.giveUpAfterMs]),

    async checked({ id, revision, leaseToken }, ticket, task) {
      const checkedAt = new Date(clock.nowMs()).toISOString();
      const said = ticket ? JSON.stringify({ checked_at: checkedAt, has_active_ticket: ticket.hasActiveTicket }) : '';
      const asked = task ? [task.subject, generalTaskJson(task)] : ['', ''];
      await checkedViolation.run(redis, violationKeys(id), [id, revision, leaseToken, said, ...asked]);
    },

    async handOver(id, { version, why }, task) {
      const asked = [task.subject, generalTaskJson(task)];
      await handOverViolation.run(redis, violationKeys(id), [id, version, ...asked, why]);
    },

    async finished(id, version) {
      await finishedViolation.run(redis, violationKeys(id), [id, version]);
    },
  };
}

type Mine = Pick<ViolationClaimed, 'id' | 'leaseToken' | 'attemptId' | 'permitLastsMs'>;

function claimOf([first, ...rest]: readonly unknown[], mine: Mine): ViolationClaim {
  const kind = violationClaimKind.parse(first);
  const numberAt = (index: number) => Number(text(rest[index], 'claim-violation'));
  switch (kind) {
    case 'idle':
    case 'held':
    case 'gone':
    case 'token_first':
      return { kind };
    case 'wait':
    case 'busy':
      return { kind, untilMs: numberAt(0) };
    case 'probe':
      return { kind, failedProbes: numberAt(0) };
    case 'hand_over': {
      const [why, attempts, version] = violationHandOver.parse(rest);
      return { kind, why, attempts, version };
    }
    case 'finish':
      return { kind, record: hashOf(rest[0]).record };
    case 'check': {
      const { record } = hashOf(rest[0]);
      return { kind, id: mine.id, leaseToken: mine.leaseToken, revision: record.revision, record };
    }
    case 'send': {
      const { record, counts } = hashOf(rest[0]);
      const more = { connectionFailures: numberAt(1), failedProbes: numberAt(2), sinceRecordedMs: numberAt(3) };
      return { kind, ...mine, record, revision: record.revision, attempt: record.attempts, ...counts, ...more };
    }
  }
}

/** The record in a reply, and what its attempts came to so far. */
function hashOf(reply: unknown): { record: ViolationRecord; counts: ReturnType<typeof violationCounts.parse> } {
  const hash = Object.fromEntries(fields(reply, 'violation'));
  const record = violationRecordOf(hash);
  if (!record) throw new UnexpectedReply('claim-violation');
  return { record, counts: violationCounts.parse(hash) };
}

function ackArguments(
  claimed: ViolationClaimed,
  result: ViolationResult,
  settings: ViolationOutboxSettings,
): (string | number)[] {
  const { named, task } = result;
  const words = result.error?.message ?? '';
  const changes = {
    ...changesOf(claimed, result, settings),
    named: named && {
      reference: named.reference,
      service_status: named.serviceStatus ?? '',
      can_tow: named.canTow === null ? '' : String(named.canTow),
    },
    terms: named ? [wordTerm(named.reference)] : [],
    task: task && { id: task.subject, json: generalTaskJson(task) },
    connection_task: generalTaskJson(connectionTask(words, { violationId: claimed.id })),
    outage_task: generalTaskJson(outageTask(words)),
    paused_task: generalTaskJson(pausedOperationTask('violation', words)),
  };
  return [
    claimed.id,
    claimed.attemptId,
    claimed.revision,
    claimed.leaseToken,
    result.verdict.next,
    delayOf(result),
    attemptJson(claimed, result),
    // To Lua, JSON's null is a value like any other: what is not there is false.
    wellFormedJson({ ...changes, named: changes.named ?? false, task: changes.task ?? false }),
  ];
}
