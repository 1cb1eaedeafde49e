import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findExecutable, run } from './server-binary';
import { messageOf } from '../../platform/system-error';

const TIMEOUT_MS = 120_000;
/** Packages that a package needs, and those that these need, and so on, at most this deep. */
const DEPTH_MAX = 5;

/** The tools of a Debian or Ubuntu system, by absolute path. */
interface PackageTools {
  readonly aptGet: string;
  readonly dpkgDeb: string;
  readonly dpkgQuery: string;
}

/**
 * Downloads a package and every library package it needs that is not installed here, and unpacks them under
 * `folder/root`, without root and without touching the system. `folder` must be empty.
 *
 * @throws Error with the reason: no Debian system, no network, no such package.
 */
export async function unpackPackage(name: string, folder: string, searchPath: string): Promise<string> {
  const tools = await packageTools(searchPath);
  const root = join(folder, 'root');
  await mkdir(root);
  const seen = new Set<string>();
  let wanted = [name];
  for (let depth = 0; depth < DEPTH_MAX && wanted.length > 0; depth += 1) {
    const packages = join(folder, `packages-${depth}`);
    await mkdir(packages);
    await download(tools, wanted, { packages, lists: join(folder, 'lists') });
    wanted.forEach((item) => seen.add(item));
    const needed = await unpackAll(tools, packages, root);
    wanted = await notInstalled(
      tools,
      needed.filter((item) => !seen.has(item)),
    );
  }
  return root;
}

async function packageTools(searchPath: string): Promise<PackageTools> {
  const [aptGet, dpkgDeb, dpkgQuery] = await Promise.all(
    ['apt-get', 'dpkg-deb', 'dpkg-query'].map((tool) => findExecutable(tool, searchPath)),
  );
  if (!aptGet || !dpkgDeb || !dpkgQuery) throw new Error('only Debian and Ubuntu offer one (no apt-get here)');
  return { aptGet, dpkgDeb, dpkgQuery };
}

/** With the system's package lists; where these are missing or out of date, with lists of our own. */
async function download(
  tools: PackageTools,
  names: readonly string[],
  folders: { packages: string; lists: string },
): Promise<void> {
  // Root would otherwise download as a user who may not write into the folder, with a warning.
  const common = ['-q', '-o', 'APT::Sandbox::User=root', '-o', 'Acquire::Retries=2', '-o', 'Acquire::http::Timeout=20'];
  const fetch = (more: readonly string[]) =>
    run(tools.aptGet, [...common, ...more, 'download', ...names], { folder: folders.packages, timeoutMs: TIMEOUT_MS });
  try {
    await fetch([]);
  } catch {
    const own = ['lists', 'cache'].map((part) => join(folders.lists, part));
    for (const folder of own) await mkdir(join(folder, 'partial'), { recursive: true });
    await mkdir(join(folders.lists, 'cache', 'archives', 'partial'), { recursive: true });
    const where = ['-o', `Dir::State::lists=${own[0]}`, '-o', `Dir::Cache=${own[1]}`];
    const updateProblem = await problemOf(
      run(tools.aptGet, [...common, ...where, '-o', 'APT::Update::Error-Mode=any', 'update'], {
        timeoutMs: TIMEOUT_MS,
      }),
    );
    // One broken source among several fails the update; whether the packages can be had, the download tells.
    const problem = await problemOf(fetch(where));
    if (problem !== null) throw new Error([updateProblem, problem].filter((part) => part !== null).join(' '));
  }
}

async function problemOf(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** Unpacks every package in the folder and returns the names of the libraries they need. */
async function unpackAll(tools: PackageTools, folder: string, root: string): Promise<readonly string[]> {
  const needed: string[] = [];
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.deb'))) {
    const path = join(folder, file);
    await run(tools.dpkgDeb, ['-x', path, root], { timeoutMs: TIMEOUT_MS });
    const depends = await run(tools.dpkgDeb, ['-f', path, 'Depends'], { timeoutMs: TIMEOUT_MS });
    // `libssl3 (>= 3.0.0), default-mta | mail-transport-agent`: the first name of each, without what follows it.
    needed.push(...depends.split(',').map((item) => item.trim().split(/[\s:|]/)[0] ?? ''));
  }
  // Only libraries matter for running a program in place; Redis scripting comes as `lua-` packages on some systems.
  return [...new Set(needed)].filter((name) => /^(lib|lua)/.test(name));
}

async function notInstalled(tools: PackageTools, names: readonly string[]): Promise<string[]> {
  const states = await Promise.all(
    names.map(async (name) => {
      try {
        const state = await run(tools.dpkgQuery, ['-W', '-f', '${db:Status-Status}', name], { timeoutMs: TIMEOUT_MS });
        return { name, installed: state.startsWith('installed') };
      } catch {
        return { name, installed: false };
      }
    }),
  );
  return states.filter(({ installed }) => !installed).map(({ name }) => name);
}
