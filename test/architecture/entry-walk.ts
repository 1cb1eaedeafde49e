import { refusedTask } from '../../src/domain/outbox/escalate-entry';
import { draftOfCircuits, NO_CIRCUITS, type Circuits } from '../../src/domain/service/stored-circuits';
import { attemptResultOf } from '../../jobs/attempt-result';
import type { AttemptResult } from '../../src/domain/outbox/attempt';
import { noEffects } from '../../src/domain/service/circuits';
import { claim, type ClaimContext } from '../../src/domain/outbox/claim-entry';
import { decideReport } from '../../src/domain/outbox/decide-report';
import { decideViolation } from '../../src/domain/violation/decide-violation';
import type { Entry } from '../../src/domain/outbox/entry';
import { refusalMessage } from '../../src/domain/outbox/exchange-message';
import { giveBack, type GiveBack } from '../../src/domain/outbox/give-back';
import type { OutboxRecord } from '../../src/domain/outbox/outbox-record';
import { historyOf, judge, type Exchange } from '../../src/domain/service/policy';
import { outageDelayMs } from '../../src/domain/service/service-health';
import { settleAttempt } from '../../src/domain/outbox/settle-attempt';
import { completeCleanup } from '../../src/domain/outbox/settle-entry';
import { appendReport, isKnown } from '../../src/domain/tow/stored-tow';
import { dropReference, linkTow, matchTow } from '../../src/domain/violation/stored-violation';
import { differenceOfAnswer } from '../../src/workflow/service/differences';
import { absentTow } from '../support/absent-tow';
import { newStoredViolation } from '../../src/store/violation/violation-fields';
import { refused, SETTINGS, surelyNotSent, unanswered } from '../domain/attempts';
import { nowMs as START_MS, RULES, towAs } from '../domain/tows';
import { violationOf } from '../support/violations';
import { randomOf, type RandomSource, Transitions } from './diagrams';

/** Random runs of the rules of the outbox, without a store: claims, calls with every answer, decisions and proof. */

const EXCHANGES: readonly Exchange[] = [
  { kind: 'accepted', httpStatus: 200 },
  { kind: 'contract_broken', httpStatus: 200, issues: ['metadata must be an object'] },
  { kind: 'not_the_service', httpStatus: 200, cause: 'not_json' },
  { kind: 'connection', cause: 'no token', notBeforeMs: null },
  { kind: 'dropped', cause: 'permission_expired', notBeforeMs: null },
  surelyNotSent,
  unanswered,
  ...[302, 400, 403, 404, 408, 429, 500, 502].map((status) => refused(status)),
];

const GIVE_BACKS: readonly GiveBack[] = [
  { kind: 'images_missing' },
  { kind: 'images_unseen', delayMs: 0 },
  { kind: 'ticket_known', hasActiveTicket: true },
  { kind: 'ticket_known', hasActiveTicket: false },
  { kind: 'ticket_unknown', delayMs: 0, error: { http_status: null, message: 'timeout' } },
];

const LATER_MS: readonly number[] = [0, 1000, 30_000, 3_600_000, 200 * 3_600_000];
const GIVE_UP_AFTER_MS = 48 * 3_600_000;
const LEASE_MS = 20_000;
const ACTOR = { id: 'k1', name: 'a test', role: 'ops' } as const;

/** The transitions of entries of a tow in random runs. */
export function reportTransitions(runs: number): string[] {
  return transitions(runs, (nowMs) => {
    const record = { ...absentTow('TW-1'), tow: towAs('started'), version: '1' };
    appendReport(record, { kind: 'started', body: {} }, nowMs);
    appendReport(record, { kind: 'invoice', body: { vehicle_type: 'HEAVY', delay_in_days: 0 } }, nowMs);
    return record;
  });
}

/** The transitions of the entry of a violation in random runs. */
export function violationTransitions(runs: number): string[] {
  return transitions(runs, (nowMs) => {
    const violation = violationOf('U1');
    const form = { ...violation.form, violationType: 'NO_TICKET' as const };
    return newStoredViolation({ ...violation, form }, nowMs);
  });
}

function transitions(runs: number, begin: (nowMs: number) => OutboxRecord): string[] {
  const seen = new Transitions();
  for (let seed = 1; seed <= runs; seed += 1) {
    const record = begin(START_MS);
    for (const entry of record.entries) seen.watch(entry, 'state');
    run(record, randomOf(seed));
  }
  return seen.all;
}

function run(record: OutboxRecord, random: RandomSource): void {
  let circuits = draftOfCircuits(NO_CIRCUITS);
  let nowMs = START_MS;
  for (let step = 1; step <= 60; step += 1) {
    nowMs += random.pick(LATER_MS);
    if (random.next() < 0.1) circuits = draftOfCircuits(NO_CIRCUITS);
    const kind = random.pick(['claim', 'claim', 'claim', 'decide', 'prove'] as const);
    if (kind === 'claim') attempt(record, { random, circuits, nowMs, id: String(step) });
    else if (kind === 'decide') decide(record, random, nowMs);
    else if (random.next() < 0.5) prove(record, random, nowMs);
  }
}

interface Turn {
  readonly random: RandomSource;
  readonly circuits: Circuits;
  readonly nowMs: number;
  readonly id: string;
}

/** One claim and what follows: a call with any answer, a worker that is lost, or a lease that is given back. */
function attempt(record: OutboxRecord, { random, circuits, nowMs, id }: Turn): void {
  const context: ClaimContext = {
    settings: {
      leaseMs: LEASE_MS,
      graceMs: SETTINGS.unknownGraceMs,
      giveUpAfterMs: GIVE_UP_AFTER_MS,
      checksTicket: true,
    },
    nowMs,
    leaseToken: id,
    attemptId: id,
    circuits,
    effects: noEffects(),
    waiting: {},
    permit: 'none_needed',
  };
  const step = claim(record, context);
  const isLost = random.next() < 0.2;
  if (step.kind === 'cleanup') completeCleanup(record, { ...record });
  if (isLost) return;
  if (step.kind === 'check' || (step.kind === 'send' && record.kind === 'violation' && random.next() < 0.2)) {
    giveBack(record, { record, entry: step.entry, leaseToken: id }, random.pick(GIVE_BACKS), {
      nowMs,
      giveUpAfterMs: GIVE_UP_AFTER_MS,
    });
  } else if (step.kind === 'send') {
    const { entry } = step;
    const result = resultFor(entry, random.pick(EXCHANGES), nowMs);
    settleAttempt(record, { record, entry, attemptId: id, leaseToken: id, connectionFailures: 0 }, result, {
      nowMs,
      giveUpAfterMs: GIVE_UP_AFTER_MS,
      circuits,
      effects: noEffects(),
      keepAnswer: () => undefined,
    });
  }
}

function resultFor(entry: Entry, exchange: Exchange, nowMs: number): AttemptResult {
  const verdict = judge(exchange, historyOf(entry, 0), SETTINGS, nowMs, 0);
  const kind = entry.kind === 'violation' ? 'invoice' : entry.kind;
  const about = { id: entry.id, kind, httpStatus: 400 };
  const task =
    verdict.next === 'refused'
      ? refusedTask({ ...about, message: refusalMessage(exchange), hint: verdict.hint })
      : null;
  const call = { exchange, data: null, rawBody: null, wasSent: true, isPermitSpent: true, durationMs: 1 };
  return attemptResultOf(call, {
    verdict,
    startedAt: new Date(nowMs).toISOString(),
    acceptedViolation: null,
    outageDelayMs: outageDelayMs(exchange, { failedProbes: 0, nowMs, jitter: 0 }, SETTINGS),
    task,
    difference: differenceOfAnswer(entry.kind, call),
  });
}

function decide(record: OutboxRecord, random: RandomSource, nowMs: number): void {
  const action = random.pick(['retry', 'waive', 'accept', 'correct'] as const);
  const reason = 'a test';
  const context = { actor: ACTOR, clockMs: nowMs, nowMs };
  if (record.kind === 'violation') {
    const command = {
      retry: { action: 'retry' },
      waive: { action: 'waive', reason },
      accept: { action: 'accept', reason, reference: null },
      correct: { action: 'correct', fields: { plateNumber: 'ABJ 1234' } },
    } as const;
    decideViolation(record, command[action], { ...context, isTaken: false });
  } else if (isKnown(record)) {
    const command = {
      retry: { action: 'retry' },
      waive: { action: 'waive', reason },
      accept: { action: 'accept', reason },
      correct: { action: 'correct', fields: { delay_in_days: 1 } },
    } as const;
    decideReport(record, random.pick(record.entries).id, command[action], { ...context, rules: RULES });
  }
}

/** An invoice webhook, or a tow request that comes from the violation, also by a link by hand, which may be withdrawn. */
function prove(record: OutboxRecord, random: RandomSource, nowMs: number): void {
  if (record.kind === 'tow') {
    record.proofAtMs = nowMs;
    return;
  }
  const match = { towingReference: 'TW-1', reference: `V-${nowMs}` };
  const by = random.pick(['metadata', 'link', 'corrected link'] as const);
  if (by === 'metadata') matchTow(record, { ...match, isEchoed: true }, nowMs);
  else linkTow(record, match, null, nowMs);
  if (by === 'corrected link') dropReference(record, match.reference, nowMs);
}
