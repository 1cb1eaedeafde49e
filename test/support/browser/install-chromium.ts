import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { withFolderLock } from '../../../src/embedded-redis/folder-lock';
import { findExecutable, run } from '../../../src/embedded-redis/server-binary';
import { CHROMIUM_PACKAGE, FETCH_WAIT_MS, QUIET_AND_PATIENT } from './apt';

const SUDO_TIMEOUT_MS = 10_000;
const UPDATE_TIMEOUT_MS = 120_000;
const INSTALL_TIMEOUT_MS = 300_000;

export interface Installation {
  readonly searchPath: string;
  readonly cacheFolder: string;
  readonly tell: (sentence: string) => void;
  readonly findInstalled: () => Promise<string | null>;
}

/**
 * Installs Debian's Chromium with apt-get, as root or through a sudo that asks for no password, and returns the program.
 * Several callers at once share one installation.
 *
 * @throws Error with the reason: no Debian system, not allowed, no network.
 */
export async function installChromium(installation: Installation): Promise<string> {
  const { searchPath, cacheFolder, tell, findInstalled } = installation;
  const aptGet = await findExecutable('apt-get', searchPath);
  if (aptGet === null) throw new Error('no apt-get here');
  const rights = await rightsToInstall(searchPath);
  await mkdir(cacheFolder, { recursive: true });
  return withFolderLock({ file: join(cacheFolder, 'lock'), waitMs: FETCH_WAIT_MS }, async () => {
    const installedByAnother = await findInstalled();
    if (installedByAnother !== null) return installedByAnother;
    tell(`Installing ${CHROMIUM_PACKAGE} for the tests of the console …`);
    const apt = (timeoutMs: number, ...parameters: string[]) => {
      const [program = '', ...rest] = [...rights, 'env', 'DEBIAN_FRONTEND=noninteractive', aptGet, ...parameters];
      return run(program, rest, { timeoutMs });
    };
    const install = [
      'install',
      '--no-install-recommends',
      '--no-remove',
      '-o',
      'DPkg::Lock::Timeout=120',
      CHROMIUM_PACKAGE,
    ];
    // One broken source among several fails the update; whether the packages can be had, the installation tells.
    await apt(UPDATE_TIMEOUT_MS, ...QUIET_AND_PATIENT, 'update').catch(() => {});
    await apt(INSTALL_TIMEOUT_MS, ...QUIET_AND_PATIENT, ...install);
    const installed = await findInstalled();
    if (installed === null)
      throw new Error(`the package ${CHROMIUM_PACKAGE} of this system has no program that starts`);
    return installed;
  });
}

/** What to put before a command so that it may change the system. */
async function rightsToInstall(searchPath: string): Promise<readonly string[]> {
  if (process.getuid?.() === 0) return [];
  const sudo = await findExecutable('sudo', searchPath);
  if (sudo === null) throw new Error('only root may install');
  await run(sudo, ['-n', 'true'], { timeoutMs: SUDO_TIMEOUT_MS });
  return [sudo, '-n'];
}
