import type { Redis } from 'ioredis';

/** The migrations of stored data. docs/contributing/how-to-add.md tells when one is needed. */

export interface Migration {
  /** The schema version that the data has afterwards: 2 for the first migration, then without a gap. */
  readonly number: number;
  /** What it does, for people. */
  readonly title: string;
  /**
   * `before`: it only adds. It runs before processes of its release start, which need it; older processes may go on
   * using the data. `after`: it removes or changes what older processes use. It runs when none of them is left, and no
   * older process may start again.
   */
  readonly order: 'before' | 'after';
  /**
   * Migrates a bounded part of the data, within a few 100 ms. `cursor` is where the last step ended, null for the first.
   * Resolves with where the next step begins; null after the last. A step may be repeated, in several processes at once
   * and beside workers: it changes a record only by a commit on the version that it read.
   */
  step(redis: Redis, cursor: string | null): Promise<string | null>;
}

/** In order of their numbers. None is ever removed: the last one gives the schema version of this release. */
export const MIGRATIONS: readonly Migration[] = [];
