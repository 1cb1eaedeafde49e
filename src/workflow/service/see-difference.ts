import { contractNames } from '../../contracts/service/contract-fields';
import type { OperationName } from '../../contracts/service/operations';
import { type DifferenceSource, fieldsOf, type SeenDifference, shapeOf } from '../../domain/service/difference';
import { jsonIn, withoutByteOrderMark } from '../../domain/json';
import { sha256Hex } from '../../platform/hash';
import type { CallResult } from './service-port';

/** Describes how a message of the service differs from its contract, for Transaction.recordDifference. */

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
