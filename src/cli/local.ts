import type { ArchivedType } from '../contracts/archive';
import type { CommandOutput } from './command';

/**
 * Commands that read DATA_DIR and Redis themselves, with the environment of the roles: they need no console and no API
 * key. The program hands them to the command line.
 *
 * @throws ConfigurationError when the environment is invalid.
 */
export interface LocalCommands {
  /** Prints the records one per line while it reads them; as a `document` it returns all of them at the end. */
  readonly readArchive: (filter: ArchiveSelection, form: 'lines' | 'document') => Promise<CommandOutput>;
  /** Checks every seal, and opens the batches for which there is a data key. */
  readonly verifyArchive: (days: ArchiveDays) => Promise<CommandOutput>;
  /** Follows the hash chain of the audit, and compares it with a head that an earlier check printed. */
  readonly verifyAudit: (noted: { readonly seq: number; readonly hash: string } | null) => Promise<CommandOutput>;
  /** Runs the pending migrations of the data in Redis, or only lists them. */
  readonly migrate: (options: MigrateOptions) => Promise<CommandOutput>;
  /** Seals personal data in Redis and DATA_DIR under the first data key, or only counts what is sealed under which key. */
  readonly reseal: (options: ResealOptions) => Promise<CommandOutput>;
}

export interface MigrateOptions {
  readonly isCheck: boolean;
}

export interface ResealOptions {
  readonly isCheck: boolean;
  /** Called with the number of keys of Redis and of files that were worked on. */
  readonly onStep: (done: number) => void;
}

/** Days of archiving in Asia/Riyadh, YYYY-MM-DD, inclusive. */
export interface ArchiveDays {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

export interface ArchiveSelection extends ArchiveDays {
  readonly type: ArchivedType | undefined;
  readonly id: string | undefined;
}
