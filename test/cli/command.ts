import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { NoApiKey, runCommandLine, type CommandLineOptions, type Doctor } from '../../src/cli';
import { createClient } from '../../src/client';
import { systemClock } from '../../src/platform/clock';
import { loadCommandLineSettings } from '../../src/platform/config';
import { compiledFile } from '../support/compiled';

/** Runs the command line in the process of the tests or in a process of its own. */

export interface CommandResult {
  readonly exitCode: number | null;
  /** Standard output. */
  readonly out: string;
  /** Standard error. */
  readonly problems: string;
  /** Standard output parsed as JSON. Throws a SyntaxError when it is not JSON. */
  readonly json: () => unknown;
}

type Environment = Readonly<Record<string, string>>;

interface Parts {
  readonly doctor?: Doctor;
  readonly progress?: CommandLineOptions['screen']['progress'];
}

const noDoctor: Doctor = () => Promise.resolve([]);

/** Runs a command in this process. `apiKey: null` sends no key. */
export function run(
  words: readonly string[],
  { url, apiKey, ...parts }: Parts & { url: string; apiKey: string | null },
): Promise<CommandResult> {
  return runHere(words, () => ({ url, apiKey }), parts);
}

/** Runs a command in this process with the settings of an environment, as the program reads them. */
export function runWith(words: readonly string[], environment: Environment, parts: Parts = {}): Promise<CommandResult> {
  return runHere(words, () => loadCommandLineSettings(environment), parts);
}

async function runHere(
  words: readonly string[],
  settings: () => { url: string; apiKey: string | null },
  { doctor = noDoctor, progress = () => null }: Parts,
): Promise<CommandResult> {
  const out: string[] = [];
  const problems: string[] = [];
  const exitCode = await runCommandLine(words, {
    client: () => {
      const { url, apiKey } = settings();
      if (apiKey === null) throw new NoApiKey();
      return createClient({ baseUrl: url, apiKey });
    },
    screen: {
      line: (text) => out.push(text),
      problem: (text) => problems.push(text),
      wantsColor: false,
      progress,
    },
    clock: systemClock,
    doctor,
    version: '1.2.3',
  });
  return resultOf(exitCode, out.join('\n'), problems.join('\n'));
}

/** The `bin` of the package. It runs the TypeScript sources. */
export const BIN = join(__dirname, '..', '..', 'src', 'main', 'towhook.cjs');

/** Runs the program as a process with PATH and `environment` only. `program` defaults to the compiled one. */
export function runProgram(
  words: readonly string[],
  {
    environment,
    folder,
    program = compiledFile('src/main/towhook.ts'),
  }: { environment: Environment; folder?: string; program?: string },
): Promise<CommandResult> {
  const child = spawn(process.execPath, [program, ...words], {
    env: { PATH: process.env['PATH'], ...environment },
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { out: '', problems: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    texts.out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    texts.problems += chunk.toString();
  });
  return new Promise((resolve) => {
    child.once('close', (exitCode) => resolve(resultOf(exitCode, texts.out, texts.problems)));
  });
}

function resultOf(exitCode: number | null, out: string, problems: string): CommandResult {
  return { exitCode, out, problems, json: (): unknown => JSON.parse(out) };
}
