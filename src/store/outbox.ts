import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { acknowledgedKind, claimedReply, claimKind } from '../contracts/replies';
import { UNANSWERED_CREATES_MAX } from '../domain/policy';
import type { Clock } from '../platform/clock';
import type { AttemptResult, Claim, Claimed, OutboxStore } from '../workflow/outbox-port';
import { towKeys } from './keys';
import { texts } from './parse';
import { Script } from './scripts';
import { taskId, taskJson } from './tows';
import type { NewTask } from '../domain/tasks';

const claimHead = new Script('claim');
const ackAttempt = new Script('ack');

const REPEAT_PAUSE_MS = 200;
/** A claim older than 5 s is of no use any more. */
const CLAIM_REPEAT_MS = 3000;

export interface OutboxSettings {
  /** How long a claim lasts; longer than the deadline of a call, equal to the lock of its queue job. */
  readonly leaseMs: number;
  readonly unknownGraceMs: number;
}

/** Claim and ack in Redis; see the headers of lua/claim.lua and lua/ack.lua. */
export function createOutboxStore(redis: Redis, clock: Clock, settings: OutboxSettings): OutboxStore {
  return {
    async claim(ref) {
      const [leaseToken, attemptId] = [clock.id(), clock.id()];
      const args = [ref, leaseToken, attemptId, settings.leaseMs, settings.unknownGraceMs, UNANSWERED_CREATES_MAX];
      // Repeated with the same token: a claim whose reply was lost is given again, not left to run out.
      const reply = await untilAnswered(() => claimHead.run(redis, towKeys(ref), args), {
        clock,
        limitMs: CLAIM_REPEAT_MS,
      });
      return claimOf(texts(reply, 'claim'), { ref, leaseToken, attemptId });
    },

    async ack(claimed, result) {
      // What the service has answered must not be forgotten because Redis was away for a moment.
      const args = ackArguments(claimed, result);
      const reply = await untilAnswered(() => ackAttempt.run(redis, towKeys(claimed.ref), args), {
        clock,
        limitMs: settings.leaseMs,
      });
      const [kind, more] = texts(reply, 'ack');
      return { kind: acknowledgedKind.parse(kind), more: more === 'more' };
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
    case 'send':
      return claimedOf(rest, mine);
  }
}

function claimedOf(reply: readonly string[], mine: { ref: string; leaseToken: string; attemptId: string }): Claimed {
  const [seq, reportId, reportKind, body, revision, ...counts] = claimedReply.parse(reply);
  const [attempt, failures, notFound, unanswered, connectionFailures] = counts;
  const history = { attempt, failures, notFound, unanswered, connectionFailures };
  return { kind: 'send', ...mine, seq, reportId, reportKind, body, revision, ...history };
}

function ackArguments(claimed: Claimed, result: AttemptResult): (string | number)[] {
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
    task: result.task ? taskChange(claimed.ref, result.task, isConnection) : false,
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

/** A broken connection is one task of the whole operator, whichever tow met it first. */
function taskChange(ref: string, task: NewTask, isConnection: boolean) {
  if (!isConnection) return { id: taskId(ref, task), json: taskJson(ref, task) };
  const { subject, ...rest } = task;
  return { id: subject, json: JSON.stringify({ id: subject, ...rest }) };
}
