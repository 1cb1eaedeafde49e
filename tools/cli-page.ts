import { runCommandLine, type LocalCommands } from '../src/cli';
import { systemClock } from '../src/platform/clock';
import { wrapped } from './wrap';

/** Writes docs/cli.md from the help of the command line. */

const INTRODUCTION = `# Command line

Generated from the help of the commands by \`npm run generate\`: change [the code](contributing/how-to-add.md#a-command), not this page.

\`towhook\` does everything that the [operator API](operator-api.md) can do, from any machine that reaches the console.

\`\`\`sh
export TOWHOOK_API_KEY=…                       # a key is never an argument
export TOWHOOK_URL=https://towing.example      # the console; that of this machine if absent
npx towhook --help
\`\`\`
`;

/** Options that every command has, or every command that changes something; described once. */
const COMMON = /^ {2}(?:-h, --help|--json|--idempotency-key|--cursor|--limit|--all)\b.*(?:\n {10,}.*)*\n?/gm;

interface Help {
  readonly usage: string;
  readonly summary: string;
  /** Arguments and options. */
  readonly details: string;
  readonly examples: readonly string[];
  /** Names of the commands below it. */
  readonly commands: readonly string[];
  /** Text after the lists, of the program alone. */
  readonly rest: string;
}

/** The text of docs/cli.md. */
export async function cliPage(): Promise<string> {
  // Help is wrapped for the terminal it is printed on.
  process.stdout.isTTY = true;
  process.stdout.columns = 118;
  const program = await helpOf([]);
  const sections: string[] = [];
  for (const name of program.commands) sections.push(...(await sectionsOf([name])));
  return `${[INTRODUCTION, program.rest, ...sections].join('\n').trimEnd()}\n`;
}

/** A group is a list of its commands with an example each; `--help` has their options. Another command has them here. */
async function sectionsOf(path: readonly string[]): Promise<string[]> {
  const help = await helpOf(path);
  const heading = `## ${path.join(' ')}\n\n${sentence(help.summary)}\n`;
  if (help.commands.length > 0) {
    const rows = await Promise.all(help.commands.map((name) => rowsOf([...path, name])));
    return [`## ${path.join(' ')}\n\n${rows.flat().join('\n')}\n`];
  }
  // Without options, the example shows the arguments.
  const isPlain = help.details === '' && help.examples.length > 0;
  const details = isPlain ? '' : `\n\`\`\`text\n${help.details || `Usage: ${help.usage}`}\n\`\`\`\n`;
  const examples = help.examples.length === 0 ? '' : `\n\`\`\`sh\n${help.examples.map(runnable).join('\n')}\n\`\`\`\n`;
  return [`${heading}${details}${examples}`];
}

async function rowsOf(path: readonly string[]): Promise<string[]> {
  const { commands, summary, usage, examples } = await helpOf(path);
  if (commands.length > 0) return (await Promise.all(commands.map((name) => rowsOf([...path, name])))).flat();
  const [example = usage] = examples;
  return [wrapped(`- \`${inOneLine(example)}\`: ${sentenceOf(inOneLine(summary))}`, '  ')];
}

function inOneLine(text: string): string {
  return text.replaceAll(/\s*\\?\n\s*/g, ' ');
}

const noOutput = () => Promise.resolve({ json: null, lines: [] });
const LOCAL: LocalCommands = {
  readArchive: noOutput,
  verifyArchive: noOutput,
  verifyAudit: noOutput,
  migrate: noOutput,
  reencrypt: noOutput,
};

async function helpOf(path: readonly string[]): Promise<Help> {
  const printed: string[] = [];
  await runCommandLine([...path, '--help'], {
    terminal: {
      print: (text) => printed.push(text),
      printError: (text) => printed.push(text),
      untilPrinted: () => Promise.resolve(null),
      wantsColor: false,
      progress: () => null,
    },
    clock: systemClock,
    version: '',
    client: () => {
      throw new Error('help needs no client');
    },
    doctor: () => Promise.resolve([]),
    local: LOCAL,
    backups: {
      take: () => Promise.reject(new Error('only the help is printed')),
      restore: () => Promise.reject(new Error('only the help is printed')),
    },
  });
  const text = `${printed.join('\n')}\n`;
  const part = (title: string) => new RegExp(`^${title}:\\n((?: {2}.*\\n)+)`, 'm').exec(text)?.[1] ?? '';
  const options = part('Options').replaceAll(COMMON, '').trimEnd();
  const details = options === '' ? '' : `Options:\n${options}`;
  const [, usage = '', summary = ''] = /^Usage: (.+)\n\n([\s\S]*?)\n\n/.exec(text) ?? [];
  return {
    usage,
    summary: summary.replaceAll('\n', ' '),
    details,
    examples: [...part('Examples').matchAll(/^ {2}\$ ((?:.*\\\n)*.*)$/gm)].map(([, example = '']) => example),
    commands: [...part('Commands').matchAll(/^ {2}(\w[\w-]*)/gm)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'help'),
    rest: common(text, part),
  };
}

/** The options that every command has, and the exit codes. */
function common(text: string, part: (title: string) => string): string {
  const exitCodes = /^Exit codes:?[^\n]*\n((?: {2}.*\n)+)/m.exec(text)?.[1] ?? part('Exit codes');
  return [
    '## Options and exit codes\n',
    wrapped(
      'Every command takes `--help` and `--json`: one document on standard output, with times in UTC. Without `--json` it prints text with times of Riyadh. A command that changes something takes `--idempotency-key <key>`: repeated under the same key, it has its effect once. A list takes `--limit`, `--cursor` with the cursor of the page before, or `--all`.',
    ),
    `\n\`\`\`text\n${exitCodes.trimEnd()}\n\`\`\`\n`,
  ].join('\n');
}

const sentence = (text: string) => wrapped(sentenceOf(text));

function sentenceOf(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}

/** As it is typed in a checkout of the project. */
function runnable(example: string): string {
  return `npx ${example}`;
}
