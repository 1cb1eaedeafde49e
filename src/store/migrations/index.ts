import type { Redis } from 'ioredis';

/** The migrations of stored data. docs/contributing/how-to-add.md tells when one is needed. */

export interface Migration {
  /** The schema version that the data has afterwards: 2 for the first migration, then without a gap. */
  readonly number: number;
  /** What it does, for people. */
  readonly title: string;
  /**
   * Migrates a bounded part of the data, within a few 100 ms. `cursor` is where the last step ended, null for the first.
   * Resolves with where the next step begins; null after the last. No role runs meanwhile. A step may be repeated, in
   * several processes at once: it changes a record only by a commit on the version that it read.
   */
  step(redis: Redis, cursor: string | null): Promise<string | null>;
}

/** In order of their numbers. None is ever removed: the last one gives the schema version of this release. */
export const MIGRATIONS: readonly Migration[] = [];
