import { type Command, InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';
import { failedRules } from '../contracts/rules';
import { momentMs } from '../domain/moment';
import type { ApiClient } from '../client';
import type { Clock } from '../platform/clock';
import { problemOf, WrongUse } from './problems';
import { showProblem } from './show-problem';
import { jsonText, textOf as terminalText, type Line, type Screen } from './screen';

/** What every command works with. */
export interface Tools {
  /** Throws NoApiKey where none is configured, ConfigurationError where the environment is wrong. */
  readonly client: () => ApiClient;
  readonly screen: Screen;
  readonly clock: Clock;
  /** Is told how the command ends. */
  readonly endWith: (exitCode: number) => void;
}

/** One call of a command: what was asked for, and what it may use. */
export interface Call {
  readonly client: ApiClient;
  readonly screen: Screen;
  /** The Idempotency-Key of this invocation, as the header of its calls. */
  readonly header: { readonly 'Idempotency-Key': string };
  /** An argument by its place, '' when it is absent. */
  readonly argument: (index: number) => string;
  /** The arguments of a command that takes several of the last. */
  readonly rest: (index: number) => readonly string[];
  /** An option's text; undefined when it was not given. */
  readonly text: (name: string) => string | undefined;
  readonly number: (name: string) => number | undefined;
  readonly list: (name: string) => readonly string[];
  readonly flag: (name: string) => boolean;
}

/** What a command has to say: to machines one document, to people lines. */
export interface Shown {
  readonly json: unknown;
  readonly lines: readonly Line[];
  readonly exitCode?: number;
}

export interface Verb {
  /** As commander writes it: `show <reference>`. */
  readonly usage: string;
  readonly summary: string;
  readonly options?: readonly Option[];
  readonly examples: readonly string[];
  /** True for what changes something: it takes an Idempotency-Key. */
  readonly changes?: boolean;
  readonly act: (call: Call) => Promise<Shown>;
}

/** Adds a command. Whatever it comes to is shown, and told as an exit code; the action itself never rejects. */
export function addVerb(parent: Command, tools: Tools, verb: Verb): Command {
  const command = parent.command(verb.usage).summary(verb.summary).description(verb.summary);
  for (const item of verb.options ?? []) command.addOption(item);
  command.option('--json', 'print one JSON document, with times in UTC, instead of text');
  if (verb.changes) {
    command.option('--idempotency-key <key>', 'repeat an earlier try: under its key it has its effect once');
  }
  command.addHelpText('after', examplesText(verb.examples));
  return command.action(async () => {
    const given: Readonly<Record<string, unknown>> = command.opts();
    const key = textOf(given['idempotencyKey']) ?? `cli-${tools.clock.id()}`;
    const isJson = given['json'] === true;
    try {
      if (!REPEAT_KEY.test(key)) throw new WrongUse([{ field: '--idempotency-key', rule: REPEAT_KEY_RULE }]);
      const shown = await verb.act(callOf(command, given, { tools, key }));
      if (isJson) tools.screen.line(jsonText(shown.json, 2));
      else for (const line of shown.lines) tools.screen.line(terminalText(line, tools.screen));
      tools.endWith(shown.exitCode ?? 0);
    } catch (error) {
      const problem = problemOf(error, verb.changes && REPEAT_KEY.test(key) ? key : null);
      showProblem(problem, { screen: tools.screen, isJson });
      tools.endWith(problem.exitCode);
    }
  });
}

/** What fits into the header of this name, and is taken by the API. */
const REPEAT_KEY = /^[\x21-\x7e]{1,255}$/;
const REPEAT_KEY_RULE = 'must be 1 to 255 visible characters of ASCII, without spaces';

/** The examples at the end of a command's help. */
export function examplesText(examples: readonly string[]): string {
  return examples.length === 0 ? '' : `\nExamples:\n${examples.map((example) => `  $ ${example}`).join('\n')}`;
}

function callOf(
  command: Command,
  given: Readonly<Record<string, unknown>>,
  { tools, key }: { tools: Tools; key: string },
): Call {
  const argumentsGiven: readonly unknown[] = command.processedArgs;
  const textsOf = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);
  return {
    get client() {
      return tools.client();
    },
    screen: tools.screen,
    header: { 'Idempotency-Key': key },
    argument: (index) => textOf(argumentsGiven[index]) ?? '',
    rest: (index) => textsOf(argumentsGiven[index]),
    text: (name) => textOf(given[name]),
    number: (name) => (typeof given[name] === 'number' ? given[name] : undefined),
    list: (name) => textsOf(given[name]),
    flag: (name) => given[name] === true,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** An option with one value. */
export function option(flags: string, meaning: string, choices?: readonly string[]): Option {
  const made = new Option(flags, meaning);
  return choices ? made.choices(choices) : made;
}

/** An option whose value is a number. */
export function numberOption(flags: string, meaning: string): Option {
  return new Option(flags, meaning).argParser((text) => {
    const value = Number(text);
    if (text.trim() === '' || Number.isNaN(value)) throw new InvalidArgumentError('It must be a number.');
    return value;
  });
}

/** An option whose value is a moment, as the facts of a tow have them. */
export function momentOption(flags: string, meaning: string): Option {
  return new Option(flags, `${meaning}, ISO 8601 with an offset`).argParser((text) => {
    if (momentMs(text.trim()) !== null) return text;
    throw new InvalidArgumentError('It must be an ISO 8601 date and time with Z or an offset.');
  });
}

/**
 * Fields by the contract of their route; undefined stands for what was not given. Throws WrongUse with every option
 * that breaks its rule, so that nothing wrong is sent.
 */
export function checked<T>(contract: z.ZodType<T>, fields: Readonly<Record<string, unknown>>): T {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const result = contract.safeParse(given);
  if (result.success) return result.data;
  throw new WrongUse(
    failedRules(result.error).map(({ field, rule }) => ({
      field: optionNamed(field),
      rule:
        field in given
          ? rule
          : rule
              .replace(/^must be (?!one of).*|^is required.*/, 'is required')
              .replace(/^must be one of/, 'is required, one of'),
    })),
  );
}

/** `plate_number` and `plateNumber` are entered as `--plate-number`. */
export function optionNamed(field: string): string {
  return `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll('_', '-')}`;
}
