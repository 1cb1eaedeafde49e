import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** A Redis or Valkey server that was seen to start on this machine. */
export interface ServerBinary {
  readonly path: string;
  /** Where its shared libraries lie, when they are not the system's own. */
  readonly libraryFolder: string | null;
  readonly version: string;
}

/** The oldest that BullMQ runs on without a warning. */
const OLDEST_VERSION = { major: 6, minor: 2 };

/**
 * Runs the binary once to see that it is a server that starts here and is new enough.
 *
 * @throws Error with the reason, in the binary's or the loader's own words.
 */
export async function checkServer(path: string, libraryFolder: string | null): Promise<ServerBinary> {
  const [program, parameters] = serverCommand({ path, libraryFolder }, ['--version']);
  const output = await run(program, parameters, { timeoutMs: 10_000 });
  const match = /v=((\d+)\.(\d+)[\w.-]*)/.exec(output);
  if (match === null) throw new Error(`${path} is not a Redis server`);
  const [, version = '', major, minor] = match;
  const isOld = Number(major) * 1_000 + Number(minor) < OLDEST_VERSION.major * 1_000 + OLDEST_VERSION.minor;
  if (isOld) throw new Error(`${path} is version ${version}, older than ${Object.values(OLDEST_VERSION).join('.')}`);
  return { path, libraryFolder, version };
}

/**
 * The program and parameters that run a server in this process's environment, but with the libraries of a private copy
 * and a locale that every machine has: a server refuses to start with one that is not installed.
 */
export function serverCommand(
  { path, libraryFolder }: Pick<ServerBinary, 'path' | 'libraryFolder'>,
  parameters: readonly string[],
): [program: string, parameters: string[]] {
  const libraries = libraryFolder === null ? [] : [`LD_LIBRARY_PATH=${libraryFolder}`];
  return ['env', ['LC_ALL=C', ...libraries, path, ...parameters]];
}

/** The first executable of this name on `searchPath` (folders joined as in `PATH`), or null. */
export async function findExecutable(name: string, searchPath: string): Promise<string | null> {
  for (const folder of searchPath.split(delimiter).filter((part) => part !== '')) {
    const path = join(folder, name);
    if (await isExecutable(path)) return path;
  }
  return null;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface RunOptions {
  readonly timeoutMs: number;
  readonly folder?: string;
}

/**
 * Runs a program to its end and returns its standard output.
 *
 * @throws Error with the program's last words when it fails or is not done within `timeoutMs`.
 */
export function run(file: string, parameters: readonly string[], options: RunOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      file,
      parameters,
      {
        timeout: options.timeoutMs,
        killSignal: 'SIGKILL',
        maxBuffer: 16 * 1024 * 1024,
        ...(options.folder === undefined ? {} : { cwd: options.folder }),
      },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(lastWords(stderr) || lastWords(stdout) || error.message));
      },
    );
  });
}

function lastWords(output: string): string {
  return output.trim().split('\n').slice(-3).join(' ').trim();
}
