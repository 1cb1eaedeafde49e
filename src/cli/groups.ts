import type { Command } from 'commander';

/** The nouns of the command line. */
const GROUPS: Readonly<Record<string, string>> = {
  tow: "tows, by the service's reference (TW-…): list, show, record facts, dispatch",
  report: 'reports to the service: decide about a stuck one; `task list` has those that are stuck',
  violation: 'violations, by their towhook id or the id in their metadata: report, import, list, show, decide',
  ticket: 'parking tickets',
  task: 'tasks: what a person must decide',
  service: 'the service as it was seen, and how it differs from its document',
  operation: 'sending: connection, outage, paused operations, budgets',
  shadow: 'tows and violations of a shadow time: what would have been sent, send it or decline it',
  run: 'one action on many tasks or deliveries: preview, start, abort',
  delivery: 'webhook calls of the service: list, show, replay',
  queue: 'queues of the workers: counts, pause, resume; work waits while a queue is paused',
  key: 'API keys of people and programs',
  audit: 'the audit log: who did what, when and why',
  alarm: 'alarms of the installation',
  notifications: 'notifications about alarms: channels, test',
  archive: 'the records that have left Redis, read on a machine that has DATA_DIR',
};

/** The group of commands of a noun; it is added with its first command. */
export function groupOf(program: Command, noun: string): Command {
  const found = program.commands.find((command) => command.name() === noun);
  if (found !== undefined) return found;
  const text = GROUPS[noun] ?? noun;
  return program.command(noun).summary(text).description(text);
}
