import { setFlagsFromString } from 'node:v8';

/**
 * The most that V8 lets a heap grow between two collections of all of it, in percent of what the first has left. It does
 * so by itself only while the heap grows fast.
 */
const GROWTH_PERCENT = 300;

/**
 * Makes collections of the whole heap rare. At a steady rate of tows V8 would begin one every few seconds, after a growth
 * of a third, and mark on all processors for 20 to 60 ms while every call waits. An idle process does not grow.
 */
export function collectWholeHeapSeldom(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
