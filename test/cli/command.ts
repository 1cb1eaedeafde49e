import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { NoApiKey, runCommandLine, type CommandLineOptions, type Doctor } from '../../src/cli';
import { createClient } from '../../src/client';
import { systemClock } from '../../src/platform/clock';
import { compiledFile } from '../support/compiled';

/** The command line, run inside the test's own process or as a person runs it. */

export interface Said {
  readonly exitCode: number | null;
  readonly out: string;
  readonly problems: string;
  /** The answer as JSON; throws when it is none. */
  readonly json: () => unknown;
}

const noDoctor: Doctor = () => Promise.resolve([]);

/** Runs a command here. `apiKey: null` sends none. */
export async function run(
  words: readonly string[],
  to: { url: string; apiKey: string | null; doctor?: Doctor; progress?: CommandLineOptions['screen']['progress'] },
): Promise<Said> {
  const out: string[] = [];
  const problems: string[] = [];
  const exitCode = await runCommandLine(words, {
    client: () => {
      if (to.apiKey === null) throw new NoApiKey();
      return createClient({ baseUrl: to.url, apiKey: to.apiKey });
    },
    screen: {
      line: (text) => out.push(text),
      problem: (text) => problems.push(text),
      wantsColor: false,
      progress: to.progress ?? (() => null),
    },
    clock: systemClock,
    doctor: to.doctor ?? noDoctor,
    version: '1.2.3',
  });
  return said(exitCode, out.join('\n'), problems.join('\n'));
}

/** The `bin` of the package, which needs no compiled output. */
export const BIN = join(__dirname, '..', '..', 'src', 'main', 'towhook.cjs');

/** Runs the program as a process, with this environment only; `program` is the compiled one unless given. */
export function runProgram(
  words: readonly string[],
  {
    environment,
    folder,
    program = compiledFile('src/main/towhook.ts'),
  }: { environment: Readonly<Record<string, string>>; folder?: string; program?: string },
): Promise<Said> {
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
    child.once('close', (exitCode) => resolve(said(exitCode, texts.out, texts.problems)));
  });
}

function said(exitCode: number | null, out: string, problems: string): Said {
  return { exitCode, out, problems, json: (): unknown => JSON.parse(out) };
}
