import { applyProbe, closeCircuit, loseConnection } from '../../domain/service/circuits';
import type { ServiceHealth } from '../../domain/service/service-health';
import { connectionTask } from '../../domain/ops/tasks';
import { CIRCUITS_ORDER_KEY, type RecordStore } from '../transaction-port';

/**
 * What a token call shows where no report does. While nothing is sent it alone opens and closes the circuit `connection`, as a
 * report does in live mode, with the same alarm and task. All reject when Redis does not answer.
 */

/** The token call failed: opens the circuit. `failures`: failed calls in a row. */
export function reportNoToken(
  records: RecordStore,
  { cause, delayMs, failures }: { readonly cause: string; readonly delayMs: number; readonly failures: number },
): Promise<void> {
  return records.transact(CIRCUITS_ORDER_KEY, async (transaction) => {
    const circuits = await transaction.circuits({ isFresh: true });
    const lost = { delayMs, failures, isSafeOnly: false, task: connectionTask(cause, 'token call'), cause };
    loseConnection(circuits, lost, transaction.nowMs, transaction.circuitEffects);
  });
}

/** The token call gave a token: closes the circuit. */
export function reportToken(records: RecordStore): Promise<void> {
  return records.transact(CIRCUITS_ORDER_KEY, async (transaction) => {
    const circuits = await transaction.circuits({ isFresh: true });
    closeCircuit(circuits, 'connection', transaction.circuitEffects);
  });
}

/** A token call probed an outage, because no entry that is safe to repeat could; `delayMs` until the next probe if it lasts. */
export function reportProbe(
  records: RecordStore,
  { service, delayMs }: { readonly service: ServiceHealth; readonly delayMs: number },
): Promise<void> {
  return records.transact(CIRCUITS_ORDER_KEY, async (transaction) => {
    const circuits = await transaction.circuits();
    applyProbe(circuits, { isAlive: service === 'alive', delayMs }, transaction.nowMs, transaction.circuitEffects);
  });
}
