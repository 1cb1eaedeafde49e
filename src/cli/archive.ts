import { InvalidArgumentError, type Command, type Option } from 'commander';
import { ARCHIVED_TYPES } from '../contracts/archive';
import { timestampMs } from '../domain/timestamp';
import { addCommand, option, type CommandTools, type Invocation } from './command';
import type { ArchiveDays, LocalCommands } from './local';
import { UsageError } from './problems';

/** `towhook archive …` */
export function addArchive(program: Command, { tools, local }: { tools: CommandTools; local: LocalCommands }): void {
  const archive = program
    .command('archive')
    .summary('the records that have left Redis')
    .description(
      'The archive below DATA_DIR, read on a machine that has the disk. Days are days of archiving, in Asia/Riyadh. A record may be archived twice; the last one counts.',
    );
  addCommand(archive, tools, {
    usage: 'read',
    summary: 'print archived records, one JSON object per line',
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
    summary: 'check every seal of the archive; exit code 1 if it was changed',
    options: DAYS,
    examples: ['towhook archive verify', 'towhook archive verify --from 2026-11-01'],
    run: (call) => local.verifyArchive(daysOf(call)),
  });
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
