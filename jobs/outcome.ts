/**
 * What a run of a job came to. A job never fails: what must happen later stands as a due mark beside the record, and
 * what a person must decide stands as a task. `what` says it in a word, for people who look at the queue.
 *
 * - done: nothing more to do now.
 * - more: another piece of work for the record `ref` could start at once.
 */
export type Outcome =
  | { readonly kind: 'done'; readonly what: string }
  | { readonly kind: 'more'; readonly what: string; readonly ref: string };
