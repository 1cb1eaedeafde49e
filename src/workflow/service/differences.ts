import { contractNames } from '../../contracts/service/contract-fields';
import type { OperationName } from '../../contracts/service/operations';
import {
  type DifferenceSource,
  fieldsOf,
  type SeenDifference,
  shapeOf,
  type Difference,
} from '../../domain/service/difference';
import { jsonIn, withoutByteOrderMark } from '../../domain/json';
import { sha256Hex } from '../../platform/hash';
import type { CallResult } from './service-port';
import type { DifferenceView } from '../../contracts/service/differences';
import { type Actor, auditOf } from '../../domain/ops/audit';
import { differenceTaskId } from '../../domain/ops/tasks';
import { unknown } from '../../domain/refusal';
import { isoOrNull, isoTimestamp } from '../../domain/timestamp';
import { type ActionResult, done, refused, transactOnce } from '../action-result';
import { orderKeyOf, type IdempotencyRecord, type RecordStore } from '../transaction-port';

/** How a message of the service differs from its contract, for Transaction.recordDifference; and what a person declares. */

/** Long enough that different shapes have different ids. */
const ID_DIGITS = 16;

/**
 * The difference of one message.
 * @param rules the broken or tolerated rules, `field: rule`, without values. At least one.
 * @param body the message as received; its example has the names and types of its fields only.
 */
export function differenceOf(
  { source, name }: { readonly source: DifferenceSource; readonly name: string },
  rules: readonly string[],
  { body, isTolerated }: { readonly body: string | null; readonly isTolerated: boolean },
): SeenDifference {
  const names = contractNames(source, name);
  const shape = shapeOf(rules, names);
  const digest = sha256Hex(JSON.stringify([shape, isTolerated])).slice(0, ID_DIGITS);
  const example = fieldsOf(body === null ? undefined : jsonIn(withoutByteOrderMark(body)), names);
  return { id: `${source}.${name}.${digest}`, source, name, shape, isTolerated, example };
}

/** The difference of an accepting answer; null when it keeps the contract, and for any other answer. */
export function differenceOfAnswer(
  name: OperationName,
  { exchange, rawBody: body }: Pick<CallResult<OperationName>, 'exchange' | 'rawBody'>,
): SeenDifference | null {
  const of = { source: 'answer', name } as const;
  if (exchange.kind === 'contract_broken') return differenceOf(of, exchange.issues, { body, isTolerated: false });
  if (exchange.kind !== 'accepted' || !exchange.differences?.length) return null;
  return differenceOf(of, exchange.differences, { body, isTolerated: true });
}

const DIFFERENCE_NOT_FOUND = unknown('difference_not_found', 'There is no such kind of difference.').refusal;

export interface ExpectRequest {
  readonly id: string;
  readonly reason: string | undefined;
  readonly actor: Actor;
  readonly idempotency: IdempotencyRecord | undefined;
}

/** Declares a kind of difference expected: its task closes, and later messages of this kind are only counted. */
export function expectDifference(
  { records }: { readonly records: RecordStore },
  { id, reason, actor, idempotency }: ExpectRequest,
): Promise<ActionResult<DifferenceView>> {
  return transactOnce(records, { orderKey: orderKeyOf('difference', id), idempotency }, async (transaction) => {
    const difference = await transaction.expectDifference(id, { by: actor.name, reason: reason ?? null });
    if (!difference) return refused(DIFFERENCE_NOT_FOUND);
    transaction.audit(auditOf(actor, 'difference.expected', { on: { difference_id: id }, why: reason }));
    return done(differenceViewOf(difference));
  });
}

/** A difference as the API shows it. */
export function differenceViewOf(difference: Difference): DifferenceView {
  const { id, source, name, shape, isTolerated, example, count, waiting, expected } = difference;
  return {
    id,
    source,
    name,
    rules: [...shape],
    tolerated: isTolerated,
    example: example.map(({ field, type }) => ({ field, type })),
    count,
    waiting,
    first_seen_at: isoTimestamp(difference.firstSeenMs),
    last_seen_at: isoTimestamp(difference.lastSeenMs),
    expected_by: expected?.by ?? null,
    expected_at: isoOrNull(expected?.atMs ?? null),
    reason: expected?.reason ?? null,
    task_id: isTolerated || expected ? null : differenceTaskId(id),
  };
}
