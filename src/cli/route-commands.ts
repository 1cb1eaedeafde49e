import type { Command } from 'commander';
import { ACCEPT_DAMAGED_IMAGES } from '../contracts/common';
import { inputFields, type InputField } from '../contracts/input-fields';
import { ROUTES } from '../contracts/operator-routes';
import type { Route } from '../contracts/routes/route';
import { answerLines, fieldText } from './answer-text';
import { addCommand, option, type CommandOutput, type CommandTools, type Invocation } from './command';
import { exampleOf, checkFields, fieldOption, optionNamed } from './fields';
import { openImages, saveFile, upload } from './files';
import { groupOf } from './command';
import { EXIT, UsageError } from './problems';
import { anyPage } from '../contracts/paging';

/**
 * Adds the commands of the routes. A noun that is not among the words of the command line gets its group alone, because
 * options are made from schemas, which takes time.
 */
export function addRouteCommands(program: Command, tools: CommandTools, words: readonly string[]): void {
  for (const route of Object.values<Route>(ROUTES)) {
    if (route.command === undefined) continue;
    const noun = nounIn(route.command);
    if (noun === null || words.includes(noun)) addRouteCommand(program, tools, { ...route, command: route.command });
    else groupOf(program, noun);
  }
}

/** Null for a command of the program itself, such as `capacity`. */
function nounIn(command: string): string | null {
  const [, noun = null] = /^([a-z-]+) [a-z-]+/.exec(command) ?? [];
  return noun;
}

type RouteWithCommand = Route & { readonly command: string };

function addRouteCommand(program: Command, tools: CommandTools, route: RouteWithCommand): void {
  const command = commandIn(route);
  addCommand(command.noun === null ? program : groupOf(program, command.noun), tools, {
    usage: command.usage,
    summary: shortOf(route.summary),
    description: route.summary,
    options: optionsOf(command),
    examples: [exampleFor(command)],
    // As in the OpenAPI document: a POST that only asks the service or sends a test answers 200.
    inAddress: command.inAddress,
    changes: route.method === 'post' && route.status !== 200,
    run: (call) => run(call, command),
  });
}

/** The begin of a summary, as lists of commands have it. */
function shortOf(summary: string): string {
  const [first = ''] = summary.split(/[.;:](?: |$)/);
  return first.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase());
}

/** A route with the parts of its command. */
interface RouteCommand {
  readonly route: RouteWithCommand;
  /** Null for a command of the program itself, such as `capacity`. */
  readonly noun: string | null;
  /** Verb and arguments, in the syntax of commander. */
  readonly usage: string;
  readonly positional: readonly string[];
  /** Those of them that are parts of the path. */
  readonly inAddress: readonly string[];
  readonly fields: readonly InputField[];
  readonly isPaged: boolean;
}

function commandIn(route: RouteWithCommand): RouteCommand {
  const [words = ''] = /^[a-z -]+/.exec(route.command) ?? [];
  const fields = inputFields(route);
  const positional = [...route.command.matchAll(/[<[](\w+)/g)].map(([, name = '']) => name);
  return {
    route,
    noun: nounIn(route.command),
    usage: `${words.trim().split(' ').at(-1)} ${route.command.slice(words.length)}`.trim(),
    positional,
    inAddress: positional.filter((name) => route.path.includes(`:${name}`)),
    fields,
    isPaged: fields.some(({ name }) => name === 'cursor'),
  };
}

function optionsOf({ route, positional, fields, isPaged }: RouteCommand) {
  const nullable = fields.filter(({ isNullable }) => isNullable).map(({ name }) => clearNameOf(name));
  return [
    ...fields.filter(({ name }) => !positional.includes(name)).map(fieldOption),
    ...(nullable.length > 0 ? [option('--clear <fields...>', 'fields to empty', nullable)] : []),
    ...(isPaged ? [option('--all', 'all pages')] : []),
    ...(route.takes === 'form'
      ? [
          option('--image <files...>', 'images, at most 10 MB in all unless configured otherwise'),
          option('--accept-damaged-images', 'take images of which a part is missing'),
        ]
      : []),
    ...(route.gives === 'image' ? [option('--output <file>', 'the file to write').makeOptionMandatory()] : []),
  ];
}

function exampleFor({ route, positional, fields }: RouteCommand): string {
  const options = fields.filter(({ name }) => !positional.includes(name));
  const image = route.takes === 'form' ? ['--image front.jpg'] : [];
  return exampleOf(route.command, options, route.gives === 'image' ? ['--output front.jpg'] : image);
}

/** A field as `--clear` names it: its option without the dashes. */
function clearNameOf(field: string): string {
  return optionNamed(field).slice('--'.length);
}

async function run(call: Invocation, command: RouteCommand): Promise<CommandOutput> {
  const { route, positional } = command;
  const given = fieldsGiven(call, command);
  const contract = route.body ?? route.query;
  if (contract !== undefined) checkFields(contract, given, positional);
  const params = Object.fromEntries(positional.map((name, index) => [name, call.argument(index)]));
  if (command.isPaged) {
    return pagedOutput(call, given, {
      read: (query) => call.client.call(route, { params, query }),
      lines: (page) => answerLines(page, route.shows),
    });
  }
  if (route.takes === 'form') {
    const images = await openImages(call.list('image'));
    const flags = { [ACCEPT_DAMAGED_IMAGES]: call.flag('acceptDamagedImages') || undefined };
    const body = { ...given, ...(images.length > 0 && { images }), ...flags };
    const send = (onSent?: (bytes: number) => void) => call.client.call(route, { params, body, key: call.key, onSent });
    return outputOf(await upload(call, images, send), command);
  }
  const body = Object.keys(given).length === 0 ? {} : { body: given };
  const request = route.body ? { key: call.key, ...body } : { query: given };
  const answer = await call.client.call(route, { params, ...request });
  if (!(answer instanceof Response)) return outputOf(answer, command);
  if (route.gives === 'image') return saveFile(call, await answer.arrayBuffer());
  const text = await answer.text();
  return { json: { [String(route.gives)]: text }, lines: text.trimEnd().split(/\r?\n/) };
}

/** What was entered, by the names of the fields. */
function fieldsGiven(call: Invocation, { positional, fields }: RouteCommand): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const { name } of fields) {
    const at = positional.indexOf(name);
    const value = at >= 0 ? call.argument(at) || undefined : call.value(name);
    if (value !== undefined) given[name] = value;
  }
  for (const { name } of fields.filter((field) => call.list('clear').includes(clearNameOf(field.name)))) {
    if (name in given) throw new UsageError([{ field: '--clear', rule: 'must not name a field that has a new value' }]);
    given[name] = null;
  }
  return given;
}

function outputOf(answer: unknown, { route }: RouteCommand): CommandOutput {
  const { succeeds = null, shows } = route;
  const note = route.note?.replaceAll(/<(\w+)>/g, (_field, name: string) => fieldText(answer, name));
  return {
    json: answer,
    lines: [...answerLines(answer, shows), ...(note === undefined ? [] : ['', note])],
    ...(note !== undefined && { ifNotPrinted: note }),
    exitCode: succeeds === null || fieldText(answer, succeeds) === 'yes' ? EXIT.done : EXIT.refused,
  };
}

/** The most items of a page. */
const LIMIT_MAX = 200;

interface PagedList {
  readonly read: (query: Readonly<Record<string, unknown>>) => Promise<unknown>;
  readonly lines: (page: unknown) => readonly string[];
}

/** Reads one page, or with --all every page, as one list. */
async function pagedOutput(
  call: Invocation,
  query: Readonly<Record<string, unknown>>,
  { read, lines }: PagedList,
): Promise<CommandOutput> {
  const readPage = async (more: object = {}) => anyPage.parse(await read({ ...query, ...more }));
  if (!call.flag('all')) {
    const page = await readPage();
    const more = page.next_cursor === null ? [] : ['', `More: --cursor ${page.next_cursor}, or --all`];
    return { json: page, lines: [...lines(page), ...more] };
  }
  const progress = call.terminal.progress('read', null);
  try {
    let page = await readPage({ limit: LIMIT_MAX });
    const { items } = page;
    progress?.at(items.length);
    while (page.next_cursor !== null) {
      // oxlint-disable-next-line eslint/no-await-in-loop
      page = await readPage({ limit: LIMIT_MAX, cursor: page.next_cursor });
      items.push(...page.items);
      progress?.at(items.length);
    }
    const all = { items, next_cursor: null };
    return { json: all, lines: lines(all) };
  } finally {
    progress?.end();
  }
}
