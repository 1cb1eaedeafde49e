import { InvalidArgumentError, type Command, type Option } from 'commander';
import { ARCHIVED_TYPES, type ArchivedType } from '../contracts/ops/archive';
import { notedHead } from '../contracts/ops/audit';
import { timestampMs } from '../domain/timestamp';
import { addCommand, option, type CommandOutput, type CommandTools, type Invocation } from './command';
import { groupOf } from './command';
import { UsageError } from './problems';

/**
 * Commands that read DATA_DIR and Redis themselves, with the environment of the roles: they need no console and no API
 * key. The program hands them to the command line.
 *
 * @throws ConfigurationError when the environment is invalid.
 */
export interface LocalCommands {
  /** Prints the records one per line while it reads them; as a `document` it returns all of them at the end. */
  readonly readArchive: (filter: ArchiveSelection, form: 'lines' | 'document') => Promise<CommandOutput>;
  /** Checks every batch, and reads those for which there is a data key. */
  readonly verifyArchive: (days: ArchiveDays) => Promise<CommandOutput>;
  /** Follows the hash chain of the audit, and compares it with a head that an earlier check printed. */
  readonly verifyAudit: (noted: { readonly seq: number; readonly hash: string } | null) => Promise<CommandOutput>;
  /** Runs the pending migrations of the data in Redis, or only lists them. */
  readonly migrate: (options: MigrateOptions) => Promise<CommandOutput>;
  /** Encrypts personal data in Redis and DATA_DIR under the first data key, or only counts what is under which key. */
  readonly reencrypt: (options: ReencryptOptions) => Promise<CommandOutput>;
}

export interface MigrateOptions {
  readonly isCheck: boolean;
}

export interface ReencryptOptions {
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

/** `towhook archive`, `towhook audit verify`, `towhook migrate` and `towhook re-encrypt` */
export function addLocalCommands(
  program: Command,
  { tools, local }: { tools: CommandTools; local: LocalCommands },
): void {
  const archive = groupOf(program, 'archive');
  addCommand(archive, tools, {
    usage: 'read',
    summary:
      'print archived records, one JSON object per line; a record may be archived twice, and the last one counts',
    options: [
      option('--type <type>', 'only records of this type', ARCHIVED_TYPES),
      option('--id <id>', 'only the last record with this id'),
      ...DAYS,
    ],
    examples: [
      'towhook archive read --type tow --from 2026-11-01 --to 2026-11-30',
      'towhook archive read --id TW-20261120-ABC123',
    ],
    run: (call) => {
      const type = ARCHIVED_TYPES.find((known) => known === call.text('type'));
      const filter = { type, id: call.text('id'), ...daysOf(call) };
      return local.readArchive(filter, call.flag('json') ? 'document' : 'lines');
    },
  });
  addCommand(archive, tools, {
    usage: 'verify',
    summary: 'check every batch of the archive; exit code 1 if it was changed',
    options: DAYS,
    examples: ['towhook archive verify', 'towhook archive verify --from 2026-11-01'],
    run: (call) => local.verifyArchive(daysOf(call)),
  });
  addCommand(groupOf(program, 'audit'), tools, {
    usage: 'verify [head]',
    summary: 'check that no entry was changed or removed, through archive and Redis; exit code 1 if one was',
    description: ABOUT_AUDIT,
    examples: ['towhook audit verify', 'towhook audit verify 1024:da39a3ee5e6b4b0d3255bfef95601890afd80709'],
    run: (call) => local.verifyAudit(headIn(call.argument(0))),
  });
  addCommand(program, tools, {
    usage: 'migrate',
    summary: 'migrate the data in Redis to the schema of this release',
    description: ABOUT_MIGRATE,
    options: [option('--check', 'print which migrations are pending, and change nothing')],
    examples: ['towhook migrate --check', 'towhook migrate'],
    run: (call) => local.migrate({ isCheck: call.flag('check') }),
  });
  addCommand(program, tools, {
    usage: 're-encrypt',
    summary: 'encrypt personal data, images and the archive under the first data key',
    description: ABOUT_REENCRYPTION,
    options: [option('--check', 'print how many values are encrypted under which key, and change nothing')],
    examples: ['towhook re-encrypt --check', 'towhook re-encrypt'],
    async run(call) {
      const progress = call.terminal.progress('keys of Redis, images and archive files', null);
      try {
        return await local.reencrypt({ isCheck: call.flag('check'), onStep: (done) => progress?.at(done) });
      } finally {
        progress?.end();
      }
    },
  });
}

const ABOUT_AUDIT = `Follows the hash chain of the audit through the archive below DATA_DIR and Redis, with the environment of the roles. It prints the head of the chain. Keep the head elsewhere and pass it next time: this is the only way to see that entries were cut off the end.`;

const ABOUT_MIGRATE = `Migrates the data in Redis to the schema of this release, with the environment of the roles. Run it before the processes of a new release start. If a migration is pending, those of the earlier release end when it begins, within seconds, and it waits for them: see docs/operations/upgrades.md.

It may be ended and run again at any time, and in several places at once. It needs Redis, and no running process. The exit code is 0 when no migration is pending, 1 when one is, and 3 when Redis does not answer.`;

const ABOUT_REENCRYPTION = `Encrypts all personal data in Redis, and the images and the archive in DATA_DIR, under the first key of DATA_KEYS_FILE, with the environment of the roles, on a machine that has the disk, beside running processes. Run it after a new key is the first one in all processes, and once after the file was added. See docs/operations/encryption.md.

It may be ended and run again at any time. An image and a batch of the archive count as one value each. The file of the archive that is written today stays as it is. The exit code is 0 when everything is encrypted under the first key, 1 when something is not, 2 when a key of the file is another one than that of the stored data, and 3 when Redis does not answer, or DATA_DIR is not the disk in use or cannot be written.`;

/** The head of an earlier check; null when none is given. */
function headIn(text: string) {
  if (text === '') return null;
  const head = notedHead.safeParse(text);
  if (head.success) return head.data;
  throw new UsageError([{ field: 'head', rule: 'must be <seq>:<hash>, as printed by an earlier check' }]);
}

const DAYS: readonly Option[] = [dayOption('--from <day>', 'the first day'), dayOption('--to <day>', 'the last day')];

function dayOption(flags: string, meaning: string): Option {
  return option(flags, `${meaning}, YYYY-MM-DD`).argParser((text) => {
    // A day that does not exist, such as 31 November, is no timestamp either.
    if (/^\d{4}-\d{2}-\d{2}$/.test(text) && timestampMs(`${text}T00:00:00Z`) !== null) return text;
    throw new InvalidArgumentError('It must be a day, YYYY-MM-DD.');
  });
}

function daysOf(call: Invocation): ArchiveDays {
  const [from, to] = [call.text('from'), call.text('to')];
  if (from !== undefined && to !== undefined && to < from) {
    throw new UsageError([{ field: '--to', rule: 'must not be before --from' }]);
  }
  return { from, to };
}
