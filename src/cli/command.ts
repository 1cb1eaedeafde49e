import { type Command, Option } from 'commander';
import type { ApiClient } from '../client';
import type { Clock } from '../platform/clock';
import { optionNamed } from './fields';
import { OutputFailed, printCommandProblem, problemOf, UsageError, type Noun } from './problems';
import { printableJson, terminalText, type OutputLine, type Terminal } from './terminal';

/** What every command needs. */
export interface CommandTools {
  /** Throws NoApiKey when no key is configured, ConfigurationError when the environment is invalid. */
  readonly client: () => ApiClient;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly setExitCode: (exitCode: number) => void;
}

/** One run of a command: its arguments and options, and what it may use. */
export interface Invocation {
  readonly client: ApiClient;
  readonly terminal: Terminal;
  /** The Idempotency-Key of this run. */
  readonly key: string;
  /** An argument by its position, '' when absent. */
  readonly argument: (index: number) => string;
  /** The value of an option, undefined when absent. */
  readonly text: (name: string) => string | undefined;
  /** The parsed value of the option of a field. */
  readonly value: (field: string) => unknown;
  readonly list: (name: string) => readonly string[];
  readonly flag: (name: string) => boolean;
}

/** The output of a command: one JSON document, and the same as text. */
export interface CommandOutput {
  readonly json: unknown;
  readonly lines: readonly OutputLine[];
  /** Lines for standard error. With --json they are part of the document alone. */
  readonly problems?: readonly string[];
  readonly exitCode?: number;
  /** What to do when the output cannot be written; default: repeat the command. */
  readonly ifNotPrinted?: string;
}

export interface CommandSpec {
  /** In the syntax of commander: `show <reference>`. */
  readonly usage: string;
  readonly summary: string;
  /** The text of its help; default: the summary. */
  readonly description?: string;
  readonly options?: readonly Option[];
  readonly examples: readonly string[];
  /** True for a command that makes a change, and so takes an Idempotency-Key. */
  readonly changes?: boolean;
  /** The arguments that become parts of the address of a call. */
  readonly inAddress?: readonly string[];
  readonly run: (call: Invocation) => Promise<CommandOutput>;
}

/** Adds a command. It prints the result and sets the exit code; it never rejects. */
export function addCommand(parent: Command, tools: CommandTools, spec: CommandSpec): void {
  const { usage, summary, description = summary } = spec;
  const command = parent.command(usage).summary(summary).description(description);
  for (const item of spec.options ?? []) command.addOption(item);
  command.option('--json', 'print one JSON document, with times in UTC');
  if (spec.changes) {
    command.option('--idempotency-key <key>', 'repeat an earlier run with its key; the change is made once');
  }
  command.addHelpText('after', examplesText(spec.examples));
  command.action(async () => {
    const given: Readonly<Record<string, unknown>> = command.opts();
    const key = stringOf(given['idempotencyKey']) ?? `cli-${tools.clock.id()}`;
    const isJson = given['json'] === true;
    try {
      if (!IDEMPOTENCY_KEY.test(key)) {
        throw new UsageError([{ field: '--idempotency-key', rule: IDEMPOTENCY_KEY_RULE }]);
      }
      requireArguments(command, spec.inAddress ?? []);
      const output = await spec.run(invocationOf(command, given, { tools, key }));
      if (isJson) tools.terminal.print(printableJson(output.json, 2));
      else printText(output, tools.terminal);
      const failure = await tools.terminal.untilPrinted();
      if (failure !== null) throw new OutputFailed(failure, output.ifNotPrinted);
      tools.setExitCode(output.exitCode ?? 0);
    } catch (error) {
      const repeatKey = spec.changes && IDEMPOTENCY_KEY.test(key) ? key : null;
      const problem = problemOf(error, repeatKey, nounOf(command, parent));
      printCommandProblem(problem, { terminal: tools.terminal, isJson });
      tools.setExitCode(problem.exitCode);
    }
  });
}

/** Null for a command of the program itself, such as `towhook capacity`. */
function nounOf(command: Command, parent: Command): Noun | null {
  if (parent.parent === null) return null;
  return {
    name: parent.name(),
    verbs: parent.commands.map((verb) => verb.name()),
    isOfTow: command.registeredArguments.some((argument) => argument.name() === 'towing_reference_id'),
  };
}

function printText({ lines, problems = [] }: CommandOutput, terminal: Terminal): void {
  for (const line of lines) terminal.print(terminalText(line, terminal));
  for (const line of problems) terminal.printError(terminalText(line, terminal));
}

/** Characters that an HTTP header can carry, as many as the API accepts. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;
const IDEMPOTENCY_KEY_RULE = 'must be 1 to 255 visible ASCII characters, without spaces';

/**
 * Throws UsageError for an empty argument, such as an unset variable of a script, and for parts of an address that a URL
 * drops, however they are encoded: the call would reach another address.
 */
function requireArguments(command: Command, inAddress: readonly string[]): void {
  const wrong = command.registeredArguments.flatMap((argument, index) => {
    const field = argument.name();
    const value: unknown = command.processedArgs[index];
    const isPart = inAddress.includes(field);
    return value === '' || (isPart && (value === '.' || value === '..'))
      ? [{ field, rule: isPart ? 'must not be empty, "." or ".."' : 'must not be empty' }]
      : [];
  });
  if (wrong.length > 0) throw new UsageError(wrong);
}

/** The examples at the end of a command's help. */
export function examplesText(examples: readonly string[]): string {
  return examples.length === 0 ? '' : `\nExamples:\n${examples.map((example) => `  $ ${example}`).join('\n')}`;
}

function invocationOf(
  command: Command,
  given: Readonly<Record<string, unknown>>,
  { tools, key }: { tools: CommandTools; key: string },
): Invocation {
  const argumentsGiven: readonly unknown[] = command.processedArgs;
  return {
    get client() {
      return tools.client();
    },
    terminal: tools.terminal,
    key,
    argument: (index) => stringOf(argumentsGiven[index]) ?? '',
    text: (name) => stringOf(given[name]),
    value: (field) => given[new Option(optionNamed(field)).attributeName()],
    list: (name) => [given[name] ?? []].flat().map(String),
    flag: (name) => given[name] === true,
  };
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** An option with one value, or a flag. */
export function option(flags: string, meaning: string, choices?: readonly string[]): Option {
  const made = new Option(flags, meaning);
  return choices ? made.choices(choices) : made;
}

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
  change: 'the feed of changes, which programs follow',
  subscription: 'changes posted to an address: create, test, pause, resume, send again',
  archive: 'the records that have left Redis, read on a machine that has DATA_DIR',
};

/** The group of commands of a noun; it is added with its first command. */
export function groupOf(program: Command, noun: string): Command {
  const found = program.commands.find((command) => command.name() === noun);
  if (found !== undefined) return found;
  const text = GROUPS[noun] ?? noun;
  return program.command(noun).summary(text).description(text);
}
