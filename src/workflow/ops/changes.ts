import type { ChangeSubject, ChangeType } from '../../domain/ops/changes';
import type { ChangeView } from '../../contracts/ops/changes';

/** The changes of all records, in the order in which Redis has written them. */

/** Which changes are wanted; all without a restriction. */
export interface WantedChanges {
  readonly types?: readonly ChangeType[] | undefined;
  /** Null: those that are about no record. */
  readonly subject?: ChangeSubject | null | undefined;
}

/** Changes after a cursor. `expired`: they cannot all be read; the cursor is that of now. */
export interface ReadChanges {
  readonly isExpired: boolean;
  readonly items: readonly ChangeView[];
  readonly nextCursor: string;
}

export interface ChangeFeed {
  /** The cursor of now: what is read after this call is followed without a gap. */
  now(): Promise<string>;
  /** Up to `limit` changes; it reads at most 10,000, so that a page may be short or empty before the end. */
  read(after: string, wanted: WantedChanges & { readonly limit: number }): Promise<ReadChanges>;
  /** Resolves when this process may have seen a change after this cursor, or after `limitMs`. */
  wait(after: string, limitMs: number): Promise<void>;
  /** Calls `listener` with what this process sees from now on. Returns how to end that. */
  follow(listener: ChangeListener): () => void;
}

export interface ChangeListener {
  readonly changed: (changes: readonly ChangeView[]) => void;
  /** Changes may have been lost; the cursor is that of now. */
  readonly missed: (cursor: string) => void;
}

interface PageRequest extends WantedChanges {
  readonly after?: string | undefined;
  readonly limit: number;
  readonly waitMs: number;
}

/** A page of changes. While there is none, it waits for one. */
export async function readChanges(
  feed: ChangeFeed,
  { after, waitMs, ...wanted }: PageRequest,
  clock: { monotonicMs(): number },
): Promise<ReadChanges> {
  if (after === undefined) return { isExpired: false, items: [], nextCursor: await feed.now() };
  const endMs = clock.monotonicMs() + waitMs;
  let page = await feed.read(after, wanted);
  while (page.items.length === 0 && !page.isExpired && clock.monotonicMs() < endMs) {
    const { nextCursor } = page;
    // oxlint-disable-next-line eslint/no-await-in-loop
    await feed.wait(nextCursor, endMs - clock.monotonicMs());
    // oxlint-disable-next-line eslint/no-await-in-loop
    page = await feed.read(nextCursor, wanted);
  }
  return page;
}
