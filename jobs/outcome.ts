/**
 * The result of a job run. A job never fails: what must happen later is on the schedule, and what a person must decide is
 * a task. `what` is one word for people who look at the queue.
 *
 * - done: nothing more to do now.
 * - more: another piece of work for the record `ref` could start at once.
 */
export type Outcome =
  | { readonly kind: 'done'; readonly what: string }
  | { readonly kind: 'more'; readonly what: string; readonly ref: string };
