import { execFile } from 'node:child_process';
import { cp, mkdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { PROJECT } from './project';

/**
 * The project as JavaScript, for the test files (test-runner.ts) and for processes that tests start: plain Node starts it in
 * about half the time that a TypeScript loader takes, and it is what the image runs. Jest's global set-up compiles it
 * once per run.
 */

const OUT = join(PROJECT, '.cache', 'compiled');
/** Files that the program reads beside its own code. */
const COPIED = ['src/store/lua', 'src/console/assets', 'src/main/towhook.cjs'];

/**
 * Compiles all sources that changed since the last call: up to a minute the first time, seconds without changes. `npm run
 * typecheck` compiles with the same options, so that tests which follow it need not.
 */
export async function compile(): Promise<void> {
  if (!existsSync(OUT))
    process.stderr.write('Compiling the project into .cache, which takes up to a minute the first time.\n');
  await mkdir(OUT, { recursive: true });
  const compiler = join(PROJECT, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = [
    '--noEmit',
    'false',
    '--outDir',
    OUT,
    '--incremental',
    '--tsBuildInfoFile',
    join(OUT, 'state.json'),
    '--sourceMap',
  ];
  // The compiler writes its output despite type errors, which `npm run typecheck` reports.
  const problems = await new Promise<string>((resolve) => {
    execFile(process.execPath, [compiler, '-p', PROJECT, ...options], (error, stdout) => resolve(error ? stdout : ''));
  });
  if (!existsSync(pathOf('src/main/index.ts'))) throw new Error(`The project could not be compiled:\n${problems}`);
  for (const path of COPIED) await cp(join(PROJECT, path), join(OUT, path), { recursive: true });
  // In jest's watch mode this process may have loaded what was compiled before.
  for (const path of Object.keys(require.cache)) if (path.startsWith(OUT + sep)) delete require.cache[path];
}

/** The compiled file of a source or test, or its folder. Throws when `compile` has not run. */
export function compiledFile(source: string): string {
  const path = pathOf(source);
  if (!existsSync(path)) throw new Error(`${source} is not compiled; call compile() of test/support/compiled.ts first`);
  return path;
}

function pathOf(source: string): string {
  return join(OUT, relative(PROJECT, resolve(PROJECT, source)).replace(/\.tsx?$/, '.js'));
}
