import {
  JUDGED_OUTCOMES,
  type JudgedOutcome,
  type JudgementPreview,
  type JudgementView,
  type StoredJudgement,
} from '../contracts/judgements';
import type { WebhookReaders } from '../contracts/read-webhook';
import { type Actor, auditOf } from '../domain/audit';
import type { Delivery } from '../domain/delivery';
import { conflict } from '../domain/refusal';
import { isoOrNull, isoTimestamp } from '../domain/timestamp';
import { done, refused, type ActionResult } from './action-result';
import { DIFFERENCE_NOT_FOUND } from './expect-difference';
import type { JudgementRun, JudgementSlice, JudgementStore } from './judgement-port';
import type { DeliveryStore, DifferenceStore } from './ports';
import type { IdempotencyRecord } from './transaction-port';

/** Judges deliveries again that broke the contract, once the contract is wider or the difference is expected. */

export interface JudgementTools {
  readonly judgements: JudgementStore;
  readonly differences: Pick<DifferenceStore, 'read'>;
  readonly deliveries: Pick<DeliveryStore, 'list'>;
  readonly readers: WebhookReaders;
}

/** Deliveries that a preview reads. */
const READ_MAX = 1000;
const PAGE = 100;
const EXAMPLES_PER_OUTCOME = 3;

/** What a run would do now with the oldest 1,000 deliveries of a kind. Null when there is no such kind. */
export async function previewJudgement(tools: JudgementTools, differenceId: string): Promise<JudgementPreview | null> {
  const { judgements, differences, readers } = tools;
  const difference = await differences.read(differenceId);
  if (!difference) return null;
  const [count, run] = await Promise.all([judgements.waiting(differenceId), judgements.read(differenceId)]);
  const isExpected = difference.expected !== null;
  const judged = (await oldestOf(tools, differenceId)).map((delivery) => ({
    delivery_id: delivery.id,
    towing_reference_id: delivery.towingReferenceId,
    received_at: isoTimestamp(delivery.receivedAtMs),
    ...outcomeOf(delivery, readers, isExpected),
  }));
  const by = (outcome: JudgedOutcome) => judged.filter((delivery) => delivery.outcome === outcome);
  return {
    count,
    read: judged.length,
    outcomes: {
      acted_on: by('acted_on').length,
      not_acted_on: by('not_acted_on').length,
      differs: by('differs').length,
    },
    examples: JUDGED_OUTCOMES.flatMap((outcome) => by(outcome).slice(0, EXAMPLES_PER_OUTCOME)),
    run: run && judgementViewOf(run),
  };
}

async function oldestOf({ deliveries }: JudgementTools, differenceId: string): Promise<readonly Delivery[]> {
  const found: Delivery[] = [];
  let cursor: string | null = null;
  do {
    // oxlint-disable-next-line eslint/no-await-in-loop
    const page: Awaited<ReturnType<DeliveryStore['list']>> = await deliveries.list({
      cursor,
      limit: PAGE,
      differing: [differenceId],
      order: 'oldest',
    });
    found.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null && found.length < READ_MAX);
  return found;
}

function outcomeOf({ kind, rawBody }: Delivery, readers: WebhookReaders, isExpected: boolean): JudgedExample {
  const read = readers[kind](rawBody);
  if (read.kind === 'message') return { outcome: 'acted_on', rules: [] };
  const rules = read.rules.map(({ field, rule }) => `${field}: ${rule}`);
  if (!isExpected) return { outcome: 'differs', rules };
  return { outcome: read.rest === null ? 'not_acted_on' : 'acted_on', rules };
}

type JudgedExample = Pick<JudgementPreview['examples'][number], 'outcome' | 'rules'>;

export interface JudgeRequest {
  readonly differenceId: string;
  readonly reason: string | undefined;
  readonly actor: Actor;
  readonly idempotency: IdempotencyRecord | undefined;
}

const JUDGEMENT_RUNNING = conflict(
  'judgement_running',
  'The deliveries of this kind are being judged already.',
).refusal;

type RunTools = Pick<JudgementTools, 'judgements' | 'differences'>;

/** Starts a run over all deliveries of a kind that were received until now; refuses while one runs. A worker takes it up. */
export async function judgeAgain(
  { judgements, differences }: RunTools,
  { differenceId, reason, actor, idempotency }: JudgeRequest,
): Promise<ActionResult> {
  if (!(await differences.read(differenceId))) return refused(DIFFERENCE_NOT_FOUND);
  const audit = auditOf(actor, 'deliveries.judged_again', { on: { difference_id: differenceId }, why: reason });
  return judgements.change(differenceId, idempotency, async ({ transaction, last, save }) => {
    if (last?.endedAtMs === null) return refused(JUDGEMENT_RUNNING);
    const { nowMs: startedAtMs } = transaction;
    const total = await judgements.waiting(differenceId, startedAtMs);
    const { id, name, role } = actor;
    save({ by: { id, name, role }, startedAtMs, endedAtMs: null, total, after: null });
    transaction.audit(audit);
    return done(null);
  });
}

/**
 * Records that a slice was judged; without `next` the run ends. Returns whether the caller continues: not when another
 * worker recorded it before, or its run has ended.
 */
export async function advanceJudgement(
  { judgements }: Pick<JudgementTools, 'judgements'>,
  differenceId: string,
  { startedAtMs, from, next }: JudgementSlice,
): Promise<boolean> {
  const isAt = (run: StoredJudgement | null): run is StoredJudgement =>
    run?.endedAtMs === null && run.startedAtMs === startedAtMs && run.after === from;
  const isOver = next === null;
  const advanced = await judgements.change(differenceId, undefined, ({ transaction, last, save }) => {
    if (!isAt(last)) return Promise.resolve(done(false));
    save({ ...last, ...(isOver ? { endedAtMs: transaction.nowMs } : { after: next }) });
    return Promise.resolve(done(!isOver));
  });
  return advanced.kind === 'done' && advanced.value;
}

/** A run as the API shows it. */
export function judgementViewOf({ by, startedAtMs, endedAtMs, total, remaining }: JudgementRun): JudgementView {
  return {
    state: endedAtMs === null ? 'running' : 'done',
    by: by.name,
    started_at: isoTimestamp(startedAtMs),
    ended_at: isoOrNull(endedAtMs),
    total,
    remaining,
  };
}
