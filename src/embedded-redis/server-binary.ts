import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** A Redis or Valkey server that has started on this machine once. */
export interface ServerBinary {
  readonly path: string;
  /** The folder of its shared libraries; null = those of the system. */
  readonly libraryFolder: string | null;
  readonly version: string;
}

/** The oldest version that BullMQ supports without a warning. */
const OLDEST_VERSION = { major: 6, minor: 2 };

/**
 * Runs the binary once to check that it is a server that starts here and is new enough.
 *
 * @throws Error with the output of the binary or of the loader.
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
 * The command that runs a server in the environment of this process, with the libraries of a private copy and the
 * locale C: a server does not start with a locale that is not installed.
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

export interface ProgramOptions {
  readonly timeoutMs: number;
  readonly folder?: string;
}

/**
 * Runs a program to its end and returns its standard output.
 *
 * @throws Error with the last lines of its output when it fails or takes longer than `timeoutMs`.
 */
export function run(file: string, parameters: readonly string[], options: ProgramOptions): Promise<string> {
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
        else reject(new Error(lastLines(stderr) || lastLines(stdout) || error.message));
      },
    );
  });
}

function lastLines(output: string): string {
  return output.trim().split('\n').slice(-3).join(' ').trim();
}
