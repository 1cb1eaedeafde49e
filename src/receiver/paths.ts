import { WEBHOOKS } from '../contracts/webhooks';
import { DELIVERY_KINDS, type DeliveryKind } from '../domain/vocabulary';

/**
 * The kind of webhook that a path takes: its documented path under any prefix, in any case, with or without slashes at the
 * end. Null for another path.
 *
 * Open question Q25: how the operator's address is registered is not documented; it may have any prefix.
 */
export function kindOfPath(path: string): DeliveryKind | null {
  let end = path.length;
  while (end > 1 && path[end - 1] === '/') end -= 1;
  const trimmed = path.slice(0, end).toLowerCase();
  return DELIVERY_KINDS.find((kind) => trimmed.endsWith(WEBHOOKS[kind].path)) ?? null;
}
