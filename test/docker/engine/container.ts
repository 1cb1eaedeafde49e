import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { fchmodSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ContainerImage } from './image';
import { PROJECT } from '../../support/project';

/** Starts and ends containers with the namespaces of Linux, on a bridge of their own. Needs root. */

export interface Container {
  readonly name: string;
  readonly service: string;
  readonly address: string;
  /** Its first process, as this machine numbers it. */
  readonly pid: number;
  /** What it was started from, to see whether that has changed. */
  readonly definition: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly user: string;
  readonly workdir: string;
  readonly healthcheck: readonly string[] | null;
  readonly graceMs: number;
}

export interface ContainerOptions {
  /** A folder for its log and its changes. */
  readonly folder: string;
  readonly name: string;
  readonly image: ContainerImage;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly isReadOnly: boolean;
  /** Lines as container.sh reads them. */
  readonly mounts: readonly string[];
}

const BRIDGE = 'br-towhook';
/** The address of the bridge, and so of programs outside of the containers. */
export const GATEWAY = '172.30.57.1';

function ip(...words: string[]): void {
  execFileSync('ip', words, { stdio: ['ignore', 'ignore', 'inherit'] });
}

export function makeBridge(): void {
  if (spawnSync('ip', ['link', 'show', BRIDGE]).status === 0) return;
  ip('link', 'set', 'lo', 'up');
  ip('link', 'add', BRIDGE, 'type', 'bridge');
  ip('addr', 'add', `${GATEWAY}/24`, 'dev', BRIDGE);
  ip('link', 'set', BRIDGE, 'up');
}

/** Gives a name a network namespace with an address on the bridge. The name may have had one before. */
export function joinNetwork(name: string, address: string): void {
  if (spawnSync('ip', ['netns', 'exec', name, 'true']).status === 0) return;
  const end = `v${address.split('.')[3]}`;
  ip('netns', 'add', name);
  ip('link', 'add', end, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
  ip('link', 'set', end, 'master', BRIDGE, 'up');
  ip('-n', name, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
  ip('-n', name, 'link', 'set', 'eth0', 'up');
  ip('-n', name, 'link', 'set', 'lo', 'up');
}

/** Starts it in the background and returns the number of its first process. */
export function startContainer(options: ContainerOptions): number {
  const log = openSync(join(options.folder, `${options.name}.log`), 'a');
  // Programs that write to /dev/stdout open it again, as the user of the container.
  fchmodSync(log, 0o666);
  const environment = { ...options.environment };
  const started = spawn('nsenter', commandOf(options), {
    env: environment,
    stdio: ['ignore', log, log],
    detached: true,
  });
  started.unref();
  return firstChild(started.pid ?? 0);
}

/** Runs it to its end, with the terminal of the caller. Returns its exit code. */
export function runContainer(options: ContainerOptions): number {
  const environment = { ...options.environment };
  return spawnSync('nsenter', commandOf(options), { env: environment, stdio: 'inherit' }).status ?? 1;
}

/** The parameters of `nsenter`. */
function commandOf({ folder, name, image, command, isReadOnly, mounts }: ContainerOptions): string[] {
  const changes = join(folder, `${name}.changes`);
  mkdirSync(changes, { recursive: true });
  const table = join(folder, `${name}.mounts`);
  const resolver = join(folder, 'resolv.conf');
  writeFileSync(resolver, 'nameserver 127.0.0.11\n');
  writeFileSync(table, `${[...mounts, `ro ${resolver} /etc/resolv.conf`].join('\n')}\n`);
  const script = join(PROJECT, 'test', 'docker', 'engine', 'container.sh');
  const isolation = [`--net=/run/netns/${name}`, 'unshare', '--mount', '--pid', '--fork', '--kill-child'];
  const settings = [image.root, changes, image.user, isReadOnly ? 'yes' : 'no', image.workdir, table];
  return [...isolation, script, ...settings, ...image.entrypoint, ...command];
}

function firstChild(pid: number): number {
  for (let tries = 0; tries < 200; tries += 1) {
    const child = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
    if (child > 0) return child;
    spawnSync('sleep', ['0.02']);
  }
  throw new Error(`process ${pid} started nothing`);
}

export function isRunning({ pid }: Pick<Container, 'pid'>): boolean {
  return spawnSync('kill', ['-0', String(pid)], { stdio: 'ignore' }).status === 0;
}

/** Runs a command inside, with the terminal of the caller unless `isQuiet`. Returns its exit code. */
export function runInside(container: Container, command: readonly string[], isQuiet = false): number {
  const { pid, user, workdir, environment } = container;
  const become =
    'cd "$1"; u=$2; shift 2; exec setpriv --reuid "$u" --regid "$(id -g "$u")" --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all -- "$@"';
  const enter = ['--target', String(pid), '--mount', '--pid', '--net', '--root', '--wd', 'sh', '-c', become, 'sh'];
  const { status } = spawnSync('nsenter', [...enter, workdir, user, ...command], {
    env: { ...environment },
    stdio: isQuiet ? 'ignore' : 'inherit',
  });
  return status ?? 1;
}

/** Asks it to end, and ends it when its time is up. Returns how long it took. */
export function stopContainer({ pid, graceMs }: Container): { tookMs: number; wasKilled: boolean } {
  const beginMs = performance.now();
  spawnSync('kill', ['-TERM', String(pid)]);
  while (isRunning({ pid })) {
    if (performance.now() - beginMs > graceMs) {
      spawnSync('kill', ['-KILL', String(pid)]);
      return { tookMs: graceMs, wasKilled: true };
    }
    spawnSync('sleep', ['0.1']);
  }
  return { tookMs: Math.round(performance.now() - beginMs), wasKilled: false };
}
