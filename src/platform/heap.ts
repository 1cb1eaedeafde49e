import { setFlagsFromString } from 'node:v8';

/**
 * The most that V8 lets a heap grow between two collections of all of it, in percent of what the first has left. It does
 * so by itself only while the heap grows fast.
 */
const GROWTH_PERCENT = 300;

/** By how much V8 multiplies the room for new objects when many of them live on. 2 is its own value, 1 keeps the room. */
const NEW_SPACE_FACTOR = { whileStarting: 1, running: 2 } as const;

/**
 * Keeps the room for new objects at its first size, 1 MiB, until `letHeapGrow`. What modules create while they load lives
 * on, so V8 would enlarge that room to its maximum of 32 MiB, all of which an idle process then keeps.
 *
 * This module is imported before those that it is meant for.
 */
setNewSpaceFactor(NEW_SPACE_FACTOR.whileStarting);

/**
 * Lets the heap of a started process grow with its work, and makes collections of the whole heap rare. At a steady rate
 * of tows V8 would begin one every few seconds, after a growth of a third, and mark on all processors for 20 to 60 ms
 * while every call waits. An idle process does not grow.
 */
export function letHeapGrow(): void {
  setNewSpaceFactor(NEW_SPACE_FACTOR.running);
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

function setNewSpaceFactor(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}
