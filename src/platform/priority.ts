import { constants, setPriority } from 'node:os';

/**
 * Lets other processes of the machine run first: when processors are scarce, accepting webhooks and storing goes before
 * working on what is stored. Without the right to do so the process goes on as it is.
 */
export function yieldToOthers(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A hardened container may forbid it.
  }
}
