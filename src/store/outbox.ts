import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { acknowledgedKind, claimedReply, claimKind, handOverReply } from '../contracts/replies';
import { UNANSWERED_CREATES_MAX } from '../domain/policy';
import { connectionTask, outageTask, pausedOperationTask, provedBeforeCorrectionTask } from '../domain/tasks';
import type { Clock } from '../platform/clock';
import type { AttemptResult, Claim, Claimed, HandedOver, OutboxStore } from '../workflow/outbox-port';
import { towKeys } from './keys';
import { texts } from './parse';
import { Script } from './scripts';
import { generalTaskJson, taskId, taskJson } from './tows';

const claimHead = new Script('claim');
const ackAttempt = new Script('ack');
const handOver = new Script('hand-over');
const storeProbe = new Script('probed');

const REPEAT_PAUSE_MS = 200;
/** A claim older than 5 s is of no use any more. */
const CLAIM_REPEAT_MS = 3000;
/** An outage of Redis that lasts longer leaves what was answered in it unknown. */
const ACK_REPEAT_MS = 600_000;

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
      return claimOf(texts(reply, 'claim'), { ref, leaseToken, attemptId });
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

    async probed(ref, { service, delayMs }) {
      await storeProbe.run(redis, towKeys(ref), [service, delayMs]);
    },
  };
}

/** Repeats a call to Redis that is safe to repeat, until it is answered or the time is up. */
async function untilAnswered<T>(
  call: () => Promise<T>,
  { clock, limitMs }: { clock: Clock; limitMs: number },
): Promise<T> {
  const startedMs = clock.monotonicMs();
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (clock.monotonicMs() - startedMs >= limitMs) throw error;
      await sleep(REPEAT_PAUSE_MS);
    }
  }
}

function claimOf(reply: readonly string[], mine: { ref: string; leaseToken: string; attemptId: string }): Claim {
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

function claimedOf(reply: readonly string[], mine: { ref: string; leaseToken: string; attemptId: string }): Claimed {
  const [seq, reportId, reportKind, body, revision, ...counts] = claimedReply.parse(reply);
  const [attempt, failures, notFound, unanswered, connectionFailures, failedProbes, connectionLosses] = counts;
  const history = { attempt, failures, notFound, unanswered, connectionFailures, failedProbes, connectionLosses };
  return { kind: 'send', ...mine, seq, reportId, reportKind, body, revision, ...history };
}

function handedOverOf(reply: readonly string[]): HandedOver {
  const [seq, reportId, reportKind, why, attempts] = handOverReply.parse(reply);
  return { kind: 'hand_over', seq, reportId, reportKind, why, attempts };
}

function ackArguments(claimed: Claimed, result: AttemptResult, settings: OutboxSettings): (string | number)[] {
  const { verdict } = result;
  const delayMs = verdict.next === 'accepted' || verdict.next === 'refused' ? 0 : verdict.delayMs;
  const isConnection = verdict.next === 'hold' && verdict.because === 'connection';
  const isUnanswered = verdict.next === 'unknown' || (verdict.next === 'retry' && verdict.because === 'unanswered');
  const changes = {
    error: result.error ? JSON.stringify(result.error) : '',
    hint: verdict.next === 'refused' ? (verdict.hint ?? '') : '',
    answer: result.answer ? JSON.stringify(result.answer) : '',
    raw_body: result.rawBody ?? '',
    not_found: verdict.next === 'retry' && verdict.because === 'not_found' ? 1 : 0,
    unanswered: isUnanswered ? 1 : 0,
    no_effect: result.hadNoEffect,
    answered: result.wasAnswered,
    connection: isConnection,
    connection_failures: claimed.connectionFailures + 1,
    connection_loss: result.isConnectionLoss ? 1 : 0,
    too_old: result.isTooOld,
    service: result.service,
    forbidden: result.isForbidden,
    asked_ms: result.askedMs,
    outage_delay_ms: result.outageDelayMs,
    give_up_ms: settings.giveUpAfterMs,
    task: result.task ? { id: taskId(claimed.ref, result.task), json: taskJson(claimed.ref, result.task) } : false,
    ...gateTasks(claimed, result),
  };
  return [
    claimed.ref,
    claimed.seq,
    claimed.attemptId,
    claimed.revision,
    claimed.leaseToken,
    verdict.next,
    delayMs,
    JSON.stringify({ attempt_id: claimed.attemptId, ...result.attempt }).toWellFormed(),
    JSON.stringify(changes, (_name, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)),
  ];
}

/** The tasks of the whole operator that this attempt may turn out to open; the script knows whether it does. */
function gateTasks(claimed: Claimed, { error }: AttemptResult) {
  const words = error?.message ?? '';
  const metBy = { kind: claimed.reportKind, towingReference: claimed.ref };
  return {
    connection_task: generalTaskJson(connectionTask(words, metBy)),
    outage_task: generalTaskJson(outageTask(words)),
    paused_task: generalTaskJson(pausedOperationTask(claimed.reportKind, words)),
  };
}
