import { spawn } from 'node:child_process';
import {
  NoApiKey,
  runCommandLine,
  type Backups,
  type CommandLineOptions,
  type Doctor,
  type LocalCommands,
} from '../../src/cli';
import { createClient } from '../../src/client';
import { systemClock } from '../../src/platform/clock';
import { loadCommandLineSettings } from '../../src/platform/config/config';
import { compiledFile } from '../support/compiled';

/** Runs the command line in the process of the tests or in a process of its own. */

export interface ProgramRun {
  readonly exitCode: number | null;
  /** Standard output. */
  readonly out: string;
  /** Standard error. */
  readonly problems: string;
  /** Standard output parsed as JSON. Throws a SyntaxError when it is not JSON. */
  readonly json: () => unknown;
}

type Environment = Readonly<Record<string, string>>;

interface RunParts {
  readonly doctor?: Doctor;
  readonly backups?: Backups;
  readonly progress?: CommandLineOptions['terminal']['progress'];
}

const noDoctor: Doctor = () => Promise.resolve([]);
const noOutput = () => Promise.resolve({ json: null, lines: [] });
const noLocal: LocalCommands = {
  readArchive: noOutput,
  verifyArchive: noOutput,
  verifyAudit: noOutput,
  migrate: noOutput,
  reencrypt: noOutput,
};
const NO_BACKUPS: Backups = {
  take: (folder) => Promise.resolve({ folder, takenAt: '2026-11-20T08:00:00.000Z', files: 0, bytes: 0 }),
  restore: () => Promise.resolve({ kind: 'verified', takenAt: null, note: 'not_tried', findings: [] }),
};

/** Runs a command in this process. `apiKey: null` sends no key. */
export function run(
  words: readonly string[],
  { url, apiKey, ...parts }: RunParts & { url: string; apiKey: string | null },
): Promise<ProgramRun> {
  return runHere(words, () => ({ url, apiKey }), parts);
}

/** Runs a command in this process with the settings of an environment, as the program reads them. */
export function runWith(words: readonly string[], environment: Environment, parts: RunParts = {}): Promise<ProgramRun> {
  return runHere(words, () => loadCommandLineSettings(environment), parts);
}

async function runHere(
  words: readonly string[],
  settings: () => { url: string; apiKey: string | null },
  { doctor = noDoctor, backups = NO_BACKUPS, progress = () => null }: RunParts,
): Promise<ProgramRun> {
  const out: string[] = [];
  const problems: string[] = [];
  const exitCode = await runCommandLine(words, {
    client: () => {
      const { url, apiKey } = settings();
      if (apiKey === null) throw new NoApiKey();
      return createClient({ baseUrl: url, apiKey });
    },
    terminal: {
      print: (text) => out.push(text),
      printError: (text) => problems.push(text),
      untilPrinted: () => Promise.resolve(null),
      wantsColor: false,
      progress,
    },
    clock: systemClock,
    doctor,
    local: noLocal,
    backups,
    version: '1.2.3',
  });
  return resultOf(exitCode, out.join('\n'), problems.join('\n'));
}

/** The `bin` of the package. */
export const BIN = compiledFile('src/main/towhook.cjs');

/** Runs the program as a process with PATH and `environment` only. `program` defaults to the compiled one. */
export function runProgram(
  words: readonly string[],
  {
    environment,
    folder,
    program = compiledFile('src/main/towhook.ts'),
  }: { environment: Environment; folder?: string; program?: string },
): Promise<ProgramRun> {
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

function resultOf(exitCode: number | null, out: string, problems: string): ProgramRun {
  return { exitCode, out, problems, json: (): unknown => JSON.parse(out) };
}
