import type { Redis } from 'ioredis';
import { acknowledgedKind, claimedReply, claimKind, handOverReply } from '../contracts/replies';
import { UNANSWERED_CREATES_MAX } from '../domain/policy';
import { connectionTask, outageTask, pausedOperationTask, provedBeforeCorrectionTask } from '../domain/tasks';
import type { Clock } from '../platform/clock';
import type { AttemptResult, Claim, Claimed, HandedOver, OutboxStore } from '../workflow/outbox-port';
import { attemptJson, changesOf, delayOf } from './ack-changes';
import { slotLastsMs } from './budgets';
import { towKeys } from './keys';
import { texts } from './parse';
import { Script } from './scripts';
import { generalTaskJson, taskId, taskJson } from './tows';
import { wellFormedJson } from './well-formed';
import { ACK_REPEAT_MS, CLAIM_REPEAT_MS, untilAnswered } from './until-answered';

const claimHead = new Script('claim');
const ackAttempt = new Script('ack');
const handOver = new Script('hand-over');
const storeProbe = new Script('probed');

export interface OutboxSettings {
  /** How long a claim lasts; longer than the deadline of a call, equal to the lock of its queue job. */
  readonly leaseMs: number;
  readonly unknownGraceMs: number;
  /** How long a report may keep failing before a person must decide. */
  readonly giveUpAfterMs: number;
  /** Calls that all tows together may make in any window; limit 0 = any number. */
  readonly towBudget: { readonly limit: number; readonly windowMs: number };
}

/** Claim and ack in Redis; see the headers of lua/claim.lua and lua/ack.lua. */
export function createOutboxStore(redis: Redis, clock: Clock, settings: OutboxSettings): OutboxStore {
  return {
    async claim(ref) {
      const [leaseToken, attemptId] = [clock.id(), clock.id()];
      const { leaseMs, unknownGraceMs, towBudget } = settings;
      const limits = [UNANSWERED_CREATES_MAX.invoice, towBudget.limit, towBudget.windowMs];
      const task = [taskId(ref, provedBeforeCorrectionTask), taskJson(ref, provedBeforeCorrectionTask)];
      const args = [ref, leaseToken, attemptId, leaseMs, unknownGraceMs, ...limits, settings.giveUpAfterMs, ...task];
      // Repeated with the same token: a claim whose reply was lost is given again, not left to run out.
      const reply = await untilAnswered(() => claimHead.run(redis, towKeys(ref), args), {
        clock,
        limitMs: CLAIM_REPEAT_MS,
      });
      return claimOf(texts(reply, 'claim'), { ref, leaseToken, attemptId, permitLastsMs: slotLastsMs(towBudget) });
    },

    async ack(claimed, result) {
      // What the service has answered must not be forgotten because Redis was away, for however long: an answer that is
      // stored after the claim ran out still settles a report whose outcome is unknown.
      const args = ackArguments(claimed, result, settings);
      const reply = await untilAnswered(() => ackAttempt.run(redis, towKeys(claimed.ref), args), {
        clock,
        limitMs: ACK_REPEAT_MS,
      });
      const [kind, more] = texts(reply, 'ack');
      return { kind: acknowledgedKind.parse(kind), more: more === 'more' };
    },

    async handOver(ref, report, task) {
      const { seq, attempts } = report;
      const args = [ref, seq, attempts, taskId(ref, task), taskJson(ref, task), UNANSWERED_CREATES_MAX.invoice];
      await handOver.run(redis, towKeys(ref), args);
    },

    async probed({ service, delayMs }) {
      await storeProbe.run(redis, towKeys(''), [service, delayMs]);
    },
  };
}

type Mine = Pick<Claimed, 'ref' | 'leaseToken' | 'attemptId' | 'permitLastsMs'>;

function claimOf(reply: readonly string[], mine: Mine): Claim {
  const [first, ...rest] = reply;
  const kind = claimKind.parse(first);
  switch (kind) {
    case 'idle':
    case 'held':
    case 'gone':
    case 'reconcile':
      return { kind };
    case 'wait':
    case 'busy':
      return { kind, untilMs: Number(rest[0]) };
    case 'probe':
      return { kind, failedProbes: Number(rest[0]) };
    case 'hand_over':
      return handedOverOf(rest);
    case 'send':
      return claimedOf(rest, mine);
  }
}

function claimedOf(reply: readonly string[], mine: Mine): Claimed {
  const [seq, reportId, reportKind, body, revision, ...counts] = claimedReply.parse(reply);
  const [attempt, failures, notFound, unanswered, connectionFailures, failedProbes, ...more] = counts;
  const [connectionLosses, sinceRecordedMs, permitAtMs] = more;
  const history = { attempt, failures, notFound, unanswered, connectionFailures, failedProbes, connectionLosses };
  return { kind: 'send', ...mine, seq, reportId, reportKind, body, revision, sinceRecordedMs, permitAtMs, ...history };
}

function handedOverOf(reply: readonly string[]): HandedOver {
  const [seq, reportId, reportKind, why, attempts] = handOverReply.parse(reply);
  return { kind: 'hand_over', seq, reportId, reportKind, why, attempts };
}

function ackArguments(claimed: Claimed, result: AttemptResult, settings: OutboxSettings): (string | number)[] {
  const metBy = { kind: claimed.reportKind, towingReference: claimed.ref };
  const words = result.error?.message ?? '';
  const changes = {
    ...changesOf(claimed, result, settings),
    task: result.task ? { id: taskId(claimed.ref, result.task), json: taskJson(claimed.ref, result.task) } : false,
    connection_task: generalTaskJson(connectionTask(words, metBy)),
    outage_task: generalTaskJson(outageTask(words)),
    paused_task: generalTaskJson(pausedOperationTask(claimed.reportKind, words)),
  };
  return [
    claimed.ref,
    claimed.seq,
    claimed.attemptId,
    claimed.revision,
    claimed.leaseToken,
    result.verdict.next,
    delayOf(result),
    attemptJson(claimed, result),
    wellFormedJson(changes),
  ];
}
