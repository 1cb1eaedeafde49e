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
      const reply = texts(await claimHead.run(redis, towKeys(ref), args), 'claim');
      return claimOf(reply, { ref, leaseToken, attemptId });
    },

    async ack(claimed, result) {
      const reply = await ackAttempt.run(redis, towKeys(claimed.ref), ackArguments(claimed, result));
      const [kind, more] = texts(reply, 'ack');
      return { kind: acknowledgedKind.parse(kind), more: more === 'more' };
    },
  };
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
  const [seq, reportId, reportKind, body, revision, attempt, failures, notFound, unanswered] =
    claimedReply.parse(reply);
  return { kind: 'send', ...mine, seq, reportId, reportKind, body, revision, attempt, failures, notFound, unanswered };
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
