import type { Command } from 'commander';
import { addCommand, option, type CommandTools } from './command';
import type { LocalCommands } from './local';

/** `towhook migrate`: runs the migrations that the data in Redis lacks. */
export function addMigrate(program: Command, { tools, local }: { tools: CommandTools; local: LocalCommands }): void {
  const command = addCommand(program, tools, {
    usage: 'migrate',
    summary: 'migrate the data in Redis to the schema of this release',
    options: [option('--check', 'print which migrations are pending, and change nothing')],
    examples: ['towhook migrate --check', 'towhook migrate'],
    run: (call) => local.migrate({ isCheck: call.flag('check') }),
  });
  command.description(ABOUT);
}

const ABOUT = `Migrates the data in Redis to the schema of this release, with the environment of the roles. Run it before the processes of a new release start. If a migration is pending, those of the earlier release end when it begins, within seconds, and it waits for them: see docs/operations/upgrades.md.

It may be ended and run again at any time, and in several places at once. It needs Redis, and no running process. The exit code is 0 when no migration is pending, 1 when one is, and 3 when Redis does not answer.`;
