import { closeCircuit, loseConnection } from '../domain/circuits';
import { connectionTask } from '../domain/tasks';
import { CIRCUITS_ORDER_KEY, type RecordStore } from './transaction-port';

/**
 * In shadow mode the token call alone shows whether the connection works. It opens and closes the circuit `connection` as
 * a report does in live mode, with the same alarm and task. Both reject when Redis does not answer.
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

/** A token was given: closes the circuit. */
export function reportToken(records: RecordStore): Promise<void> {
  return records.transact(CIRCUITS_ORDER_KEY, async (transaction) => {
    const circuits = await transaction.circuits({ isFresh: true });
    closeCircuit(circuits, 'connection', transaction.circuitEffects);
  });
}
