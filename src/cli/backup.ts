import type { Command } from 'commander';
import { addCommand, option, type CommandOutput, type CommandTools } from './command';
import { findingLines, sumOfFindings, type Finding } from './finding';
import { EXIT } from './problems';

/** A complete backup. */
export interface TakenBackup {
  readonly folder: string;
  /** Everything that was acknowledged before is in it; ISO 8601 UTC. */
  readonly takenAt: string;
  readonly files: number;
  readonly bytes: number;
}

export interface RestoreOptions {
  /** The folder of the backup; null checks the Redis and DATA_DIR of the environment as they are. */
  readonly folder: string | null;
  /** Only checks the backup. */
  readonly verifies: boolean;
  /** Restores a backup with faults too. */
  readonly ignoresFaults: boolean;
}

/** `not_tried`: there were faults, or there is no backup whose time could be noted. */
export type VerificationNote = 'noted' | 'not_begun_here' | 'later_verified' | 'no_answer' | 'not_tried';

export interface RestoreResult {
  /**
   * - faulty: it has faults, so nothing was restored.
   * - unusable: its snapshot cannot be used, so it cannot be restored despite its faults either.
   */
  readonly kind: 'verified' | 'restored' | 'faulty' | 'unusable';
  /** Null when it is unknown. */
  readonly takenAt: string | null;
  /** Whether the Redis of the environment now has the time of this verification. */
  readonly note: VerificationNote;
  readonly findings: readonly Finding[];
}

/** Both reject with BackupProblem, or ConfigurationError. */
export interface Backups {
  /** Writes a backup into a new or empty folder. */
  take(folder: string): Promise<TakenBackup>;
  restore(options: RestoreOptions): Promise<RestoreResult>;
}

/** `towhook backup` and `towhook restore`. */
export function addBackup(
  program: Command,
  { tools, backups }: { readonly tools: CommandTools; readonly backups: Backups },
): void {
  addCommand(program, tools, {
    usage: 'backup <folder>',
    summary: 'write a backup of Redis, the images and the archive into a new folder',
    description: ABOUT_BACKUP,
    examples: ['towhook backup /backups/2026-11-20', 'towhook backup /backups/2026-11-20 --json'],
    run: async (call) => takenOutput(await backups.take(call.argument(0))),
  });
  addCommand(program, tools, {
    usage: 'restore [folder]',
    summary: 'verify a backup, and restore it into an empty Redis',
    description: ABOUT_RESTORE,
    options: [
      option('--verify', 'only verify it; without a folder, verify the Redis and DATA_DIR of the environment'),
      option('--despite-faults', 'restore a backup in which faults were found'),
    ],
    examples: ['towhook restore /backups/2026-11-20 --verify', 'towhook restore /backups/2026-11-20'],
    run: async (call) => {
      // An empty argument is refused before.
      const folder = call.argument(0) || null;
      const [verifies, ignoresFaults] = [call.flag('verify'), call.flag('despiteFaults')];
      const options = { folder, verifies, ignoresFaults };
      return restoreOutput(options, await backups.restore(options));
    },
  });
}

const ABOUT_BACKUP = `Writes a backup into a new or empty folder, with the environment of the roles (REDIS_URL, DATA_DIR), while they run. Everything that was acknowledged before the printed time is in it.

It contains personal data and secrets. Its files can be read by this user only.`;

const ABOUT_RESTORE = `Verifies a backup: its checksums, and on a private Redis the conservation check, the audit chain, the archive and the images. A verification without faults is noted in the Redis of REDIS_URL if that is the one that was backed up.

Without --verify it then restores the backup into the empty Redis of REDIS_URL, and adds the files that are missing in DATA_DIR. Stop all roles first. Sending stays paused until a person resumes it: \`towhook queue resume reports\`, \`towhook queue resume violations\` and \`towhook queue resume subscriptions\`.

It needs a redis-server program: an installed one, REDIS_SERVER_BIN, or a private copy that is fetched once.`;

function takenOutput({ folder, takenAt, files, bytes }: TakenBackup): CommandOutput {
  return {
    json: { folder, taken_at: takenAt, files, bytes },
    lines: [
      `${folder}: ${files} files, ${(bytes / 1e6).toFixed(1)} MB.`,
      `Everything that was acknowledged before ${takenAt} is in it.`,
      `Verify it: towhook restore ${folder} --verify`,
    ],
  };
}

function restoreOutput(options: RestoreOptions, { kind, takenAt, note, findings }: RestoreResult): CommandOutput {
  const { folder } = options;
  const { faults, warnings } = sumOfFindings(findings);
  return {
    json: { folder, result: kind, taken_at: takenAt, noted: note === 'noted', faults, warnings, findings },
    lines: [
      `Checked: ${folder === null ? 'the Redis and DATA_DIR of the environment' : `the backup in ${folder}`}`,
      ...findingLines(findings),
      ...outcomeLines(kind, options),
      ...NOTES[note],
    ],
    exitCode: faults === 0 || kind === 'restored' ? EXIT.done : EXIT.refused,
  };
}

const NOTES: Readonly<Record<VerificationNote, readonly string[]>> = {
  noted: ['Noted in Redis as verified.'],
  not_begun_here: [
    'Not noted in Redis: the Redis of REDIS_URL does not know this backup. It is of another installation, of an earlier',
    'version of towhook, or older than the last 100.',
  ],
  later_verified: ['Not noted in Redis: a later backup was verified already.'],
  no_answer: ['Not noted in Redis: the Redis of REDIS_URL could not be used.'],
  not_tried: [],
};

const RESTORED = [
  'Restored. Start the roles; nothing is sent yet. Check at the service what it accepted after the time of the backup,',
  'then: towhook queue resume reports, and the same for violations and subscriptions.',
];

function outcomeLines(kind: RestoreResult['kind'], { folder, verifies }: RestoreOptions): readonly string[] {
  if (kind === 'restored') return RESTORED;
  // Without a folder there is no backup to restore, and each finding has its remedy.
  if (kind === 'verified' || folder === null) return [];
  const problem =
    kind === 'unusable'
      ? 'The backup cannot be restored, also not with --despite-faults: its snapshot cannot be used.'
      : 'The backup has faults. Use an earlier one, or restore it with --despite-faults.';
  return [verifies ? problem : `Nothing was restored. ${problem}`];
}
