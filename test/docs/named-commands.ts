import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandsIn, readDocuments } from '../architecture/documents';
import { PROJECT } from '../support/project';

/** A towhook command that a document, a page of the console or an alert names. */
export interface NamedCommand {
  /** One or two words; the second may be an argument. */
  readonly words: readonly string[];
  readonly path: string;
}

const TEXTS = ['src/console/messages/en.json', 'src/console/messages/ar.json', 'deploy/prometheus/alerts.yml'];
/** Programs of their own, which are no part of the command line. */
export const OTHER_PROGRAMS = ['demo', 'start'];
const WORDS = 'towhook ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?';
const IN_TEXT = new RegExp(`(?:[\`“]|run: )(?:npx )?${WORDS}`, 'g');
const IN_SHELL = new RegExp(`(?:^npx |\\bexec (?:-T )?\\w+ |^)${WORDS}`, 'g');

/** Each command once. */
export function namedCommands(): NamedCommand[] {
  const documents = readDocuments();
  const texts = TEXTS.map((path) => ({ path, text: readFileSync(join(PROJECT, path), 'utf8') }));
  const found = [
    ...documents.flatMap((document) => commandsIn(document).flatMap((line) => named(line, IN_SHELL, document.path))),
    ...[...documents, ...texts].flatMap(({ path, text }) => named(text, IN_TEXT, path)),
  ];
  const first = new Map(found.toReversed().map((command) => [command.words.join(' '), command]));
  return [...first.values()].filter(({ words: [name = ''] }) => !OTHER_PROGRAMS.includes(name));
}

function named(text: string, pattern: RegExp, path: string): NamedCommand[] {
  return [...text.matchAll(pattern)].map(([, name = '', next]) => ({
    words: next === undefined ? [name] : [name, next],
    path,
  }));
}

/** True if `help` is that of the command, and not of a group that lacks it. */
export function isHelpOf({ words }: NamedCommand, help: string): boolean {
  const [, usage = ''] = /^Usage: towhook (.*)$/m.exec(help) ?? [];
  const [name = '', next = null] = words;
  if (next === null || usage.startsWith(`${name} ${next} `)) return usage.startsWith(`${name} `);
  // Without subcommands the second word is an argument.
  return usage.startsWith(`${name} `) && !usage.includes('[command]');
}
