import { type Command, InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';
import type { ApiClient } from '../client';
import { failedRules } from '../contracts/rules';
import { DECIMAL_NUMBER } from '../domain/numerals';
import { timestampMs } from '../domain/timestamp';
import type { Clock } from '../platform/clock';
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
  /** The values of a variadic argument. */
  readonly rest: (index: number) => readonly string[];
  /** The value of an option, undefined when absent. */
  readonly text: (name: string) => string | undefined;
  readonly number: (name: string) => number | undefined;
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
  readonly options?: readonly Option[];
  readonly examples: readonly string[];
  /** True for a command that makes a change, and so takes an Idempotency-Key. */
  readonly changes?: boolean;
  readonly run: (call: Invocation) => Promise<CommandOutput>;
}

/** Adds a command. It prints the result and sets the exit code; it never rejects. */
export function addCommand(parent: Command, tools: CommandTools, spec: CommandSpec): Command {
  const command = parent.command(spec.usage).summary(spec.summary).description(spec.summary);
  for (const item of spec.options ?? []) command.addOption(item);
  command.option('--json', 'print one JSON document, with times in UTC');
  if (spec.changes) {
    command.option('--idempotency-key <key>', 'repeat an earlier run with its key; the change is made once');
  }
  command.addHelpText('after', examplesText(spec.examples));
  return command.action(async () => {
    const given: Readonly<Record<string, unknown>> = command.opts();
    const key = stringOf(given['idempotencyKey']) ?? `cli-${tools.clock.id()}`;
    const isJson = given['json'] === true;
    try {
      if (!IDEMPOTENCY_KEY.test(key)) {
        throw new UsageError([{ field: '--idempotency-key', rule: IDEMPOTENCY_KEY_RULE }]);
      }
      requireArguments(command);
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
  const program = parent.parent;
  if (program === null) return null;
  const takes = (...names: readonly string[]) =>
    command.registeredArguments.some((argument) => names.includes(argument.name()));
  // A kind of difference, which `towhook delivery judge` takes too, is listed by `towhook service`.
  const service = takes('difference') ? program.commands.find((other) => other.name() === 'service') : undefined;
  const noun = service ?? parent;
  return {
    name: noun.name(),
    verbs: noun.commands.map((verb) => verb.name()),
    isOfTow: takes('reference', 'tow'),
  };
}

function printText({ lines, problems = [] }: CommandOutput, terminal: Terminal): void {
  for (const line of lines) terminal.print(terminalText(line, terminal));
  for (const line of problems) terminal.printError(terminalText(line, terminal));
}

/** Characters that an HTTP header can carry, as many as the API accepts. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;
const IDEMPOTENCY_KEY_RULE = 'must be 1 to 255 visible ASCII characters, without spaces';

/** Arguments that are texts: no part of an address of the API. */
const TEXTS: ReadonlySet<string> = new Set(['text', 'crew', 'yard']);
/** Arguments that are paths of this machine. An empty one is an unset variable of a script. */
const FILES: ReadonlySet<string> = new Set(['file', 'folder', 'images']);

/**
 * Throws UsageError for empty paths, and for arguments that a URL drops, however they are encoded: the call would reach
 * another address.
 */
function requireArguments(command: Command): void {
  const wrong = command.registeredArguments.flatMap((argument, index) => {
    const field = argument.name();
    if (TEXTS.has(field)) return [];
    const values: readonly unknown[] = [command.processedArgs[index]].flat();
    const isFile = FILES.has(field);
    const isWrong = values.some((value) => value === '' || (!isFile && (value === '.' || value === '..')));
    return isWrong ? [{ field, rule: isFile ? 'must not be empty' : 'must not be empty, "." or ".."' }] : [];
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
  const stringsOf = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);
  return {
    get client() {
      return tools.client();
    },
    terminal: tools.terminal,
    key,
    argument: (index) => stringOf(argumentsGiven[index]) ?? '',
    rest: (index) => stringsOf(argumentsGiven[index]),
    text: (name) => stringOf(given[name]),
    number: (name) => (typeof given[name] === 'number' ? given[name] : undefined),
    list: (name) => stringsOf(given[name]),
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

export function numberOption(flags: string, meaning: string): Option {
  return new Option(flags, meaning).argParser((text) => {
    if (!DECIMAL_NUMBER.test(text.trim())) throw new InvalidArgumentError('It must be a number.');
    return Number(text);
  });
}

/** An option whose value is an ISO 8601 date and time with an offset. */
export function timestampOption(flags: string, meaning: string): Option {
  return new Option(flags, `${meaning}, ISO 8601 with an offset`).argParser((text) => {
    if (timestampMs(text.trim()) !== null) return text;
    throw new InvalidArgumentError('It must be an ISO 8601 date and time with Z or an offset.');
  });
}

/**
 * Parses fields by the contract of their route, before anything is sent. Undefined fields are left out. Throws UsageError
 * that names every option with an invalid value.
 */
export function checked<T>(contract: z.ZodType<T>, fields: Readonly<Record<string, unknown>>): T {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const result = contract.safeParse(given);
  if (result.success) return result.data;
  throw new UsageError(
    failedRules(result.error).map(({ field, rule }) => {
      // The contract names the item of a list as `mail_to.1`; the option holds the whole list.
      const [option = field] = field.split('.');
      return { field: optionNamed(option), rule: option in given ? rule : requirementIn(rule) };
    }),
  );
}

/** The rule of a field that was left out, as the requirement of its option. */
function requirementIn(rule: string): string {
  return rule
    .replace(/^must be (?!one of).*|^is required.*/, 'is required')
    .replace(/^must be one of/, 'is required, one of');
}

/** `plate_number` and `plateNumber` → `--plate-number`. */
export function optionNamed(field: string): string {
  return `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll('_', '-')}`;
}
