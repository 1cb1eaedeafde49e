import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT } from '../support/project';

const run = promisify(execFile);

/** The commit of the previous version: UPGRADE_FROM, else the last release, else the last one with the core alone. */
async function previousCommit(): Promise<string> {
  const wanted = process.env['UPGRADE_FROM'] ?? (await git('tag', '--list', 'v*', '--sort=-v:refname')).split('\n')[0];
  if (wanted !== undefined && wanted !== '') return git('rev-parse', `${wanted}^{commit}`);
  const found = await git('log', '-1', '--format=%H', '--grep=^store: reword comments and names of tests$');
  if (found === '') throw new Error('no release and no commit of an earlier version; set UPGRADE_FROM to one');
  return found;
}

async function git(...words: readonly string[]): Promise<string> {
  return (await run('git', ['-C', PROJECT, ...words])).stdout.trim();
}

/** Compiles the previous version to a folder of its own, once per commit; resolves with the program of its roles. */
export async function compilePrevious(): Promise<string> {
  const commit = await previousCommit();
  const folder = join(PROJECT, '.cache', 'previous', commit);
  const out = join(folder, 'compiled');
  const program = join(out, 'src', 'main', 'index.js');
  if (existsSync(program)) return program;
  await mkdir(folder, { recursive: true });
  await run('sh', ['-c', 'git -C "$1" archive "$2" | tar -x -C "$3"', 'sh', PROJECT, commit, folder]);
  await symlink(join(PROJECT, 'node_modules'), join(folder, 'node_modules')).catch(() => {});
  const compiler = join(PROJECT, 'node_modules', 'typescript', 'bin', 'tsc');
  await run(process.execPath, [compiler, '-p', folder, '--noEmit', 'false', '--outDir', out]).catch(() => {});
  if (!existsSync(program)) throw new Error(`the version ${commit} could not be compiled`);
  for (const data of ['src/store/lua', 'src/console/assets']) {
    await cp(join(folder, data), join(out, data), { recursive: true });
  }
  return program;
}
