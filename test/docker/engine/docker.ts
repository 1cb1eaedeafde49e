import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { readCompose, type ComposeService } from './compose';
import {
  isRunning,
  joinNetwork,
  makeBridge,
  runContainer,
  runInside,
  startContainer,
  stopContainer,
  type Container,
} from './container';
import { findImage, type ContainerImage } from './image';
import { publishPort, serveNames } from './names';

/**
 * `docker compose` as far as the documentation uses it, on a machine without a container engine: `up`, `exec`, `run`,
 * `stop`, `ps`, `logs`, `down`. It reads docker-compose.yml of the working folder. DOCKER_STATE is its folder. It must run in a
 * network namespace of its own.
 */

const STATE = process.env['DOCKER_STATE'] ?? '/run/towhook-docker';
const BOOK = join(STATE, 'containers.json');

const stored = z.array(
  z.object({
    name: z.string(),
    service: z.string(),
    address: z.string(),
    pid: z.number(),
    definition: z.string(),
    environment: z.record(z.string(), z.string()),
    user: z.string(),
    workdir: z.string(),
    healthcheck: z.array(z.string()).nullable(),
    graceMs: z.number(),
  }),
);

function containers(): Container[] {
  return existsSync(BOOK) ? stored.parse(JSON.parse(readFileSync(BOOK, 'utf8'))) : [];
}

function store(all: readonly Container[]): void {
  writeFileSync(BOOK, JSON.stringify(all));
}

const runningOf = (service: string) => containers().filter((item) => item.service === service && isRunning(item));

function up(words: readonly string[]): number {
  const { file, variables } = readCompose(process.cwd(), process.env);
  const profiles = (variables['COMPOSE_PROFILES'] ?? '').split(',');
  const scales = new Map(words.flatMap((word, at) => (word === '--scale' ? [scaleIn(words[at + 1])] : [])));
  mkdirSync(STATE, { recursive: true });
  makeBridge();
  for (const [name, service] of Object.entries(file.services)) {
    if (service.profiles.length > 0 && !service.profiles.some((profile) => profiles.includes(profile))) continue;
    const image = findImage(service.image);
    if (image === null) {
      process.stdout.write(`${name}: skipped, ${service.image} cannot be had here\n`);
      continue;
    }
    const count = scales.get(name) ?? Math.max(1, runningOf(name).length);
    const started = Array.from({ length: count }, (_, index) => ({ name, index, service, image }));
    for (const one of started) ensure(one, { secrets: file.secrets, variables });
    if (service.healthcheck !== undefined || words.includes('--wait')) {
      for (const one of runningOf(name)) untilHealthy(one);
    }
    if (service.ports.length > 0) background(`ports-${name}`, [], ['publish', name, ...service.ports]);
  }
  return 0;
}

function scaleIn(word = ''): [string, number] {
  const [name = '', count = '1'] = word.split('=');
  return [name, Number(count)];
}

interface Wanted {
  readonly name: string;
  readonly index: number;
  readonly service: ComposeService;
  readonly image: ContainerImage;
}

/** Starts a container, or replaces one whose definition has changed. */
function ensure(
  { name, index, service, image }: Wanted,
  { secrets, variables }: { secrets: Readonly<Record<string, { file: string }>>; variables: NodeJS.ProcessEnv },
): void {
  const own = `${name}-${index + 1}`;
  const all = containers();
  const before = all.find((item) => item.name === own);
  const environment = { ...image.environment, ...definedIn(service.environment, variables) };
  const definition = JSON.stringify([service, environment]);
  if (before !== undefined && isRunning(before)) {
    if (before.definition === definition) return;
    stopContainer(before);
  }
  const address = before?.address ?? `172.30.57.${10 + all.length}`;
  connect(own, address);
  const [, check = null] = service.healthcheck?.test ?? [];
  const healthcheck = check === null ? image.healthcheck : ['sh', '-c', check];
  const command = service.command;
  const mounts = mountsOf(service, image, secrets);
  const pid = startContainer({
    folder: STATE,
    name: own,
    image,
    command,
    environment,
    isReadOnly: service.read_only,
    mounts,
  });
  const graceMs = Number.parseInt(service.stop_grace_period, 10) * 1000;
  const { user, workdir } = image;
  const fresh = {
    name: own,
    service: name,
    address,
    pid,
    definition,
    environment,
    user,
    workdir,
    healthcheck,
    graceMs,
  };
  store([...all.filter((item) => item.name !== own), fresh]);
  process.stdout.write(`${own}: started\n`);
}

/** Puts a container into the network, with a name server of its own. */
function connect(own: string, address: string): void {
  joinNetwork(own, address);
  background(`names-${own}`, [`--net=/run/netns/${own}`], ['names', own]);
  untilTrue(() => existsSync(join(STATE, `${own}.named`)), `the name server of ${own} did not start`);
}

/** `run --rm --entrypoint <program> <service> <words>`. */
function runOnce(words: readonly string[]): number {
  const [entrypoint = '', name = '', ...command] = words.filter((word) => word !== '--rm' && word !== '--entrypoint');
  const { file, variables } = readCompose(process.cwd(), process.env);
  const service = file.services[name];
  const image = findImage(service?.image ?? '');
  if (service === undefined || image === null) throw new Error(`no such service: ${name}`);
  const own = `${name}-run`;
  connect(own, '172.30.57.200');
  return runContainer({
    folder: STATE,
    name: own,
    image: { ...image, entrypoint: [entrypoint] },
    command,
    environment: { ...image.environment, ...definedIn(service.environment, variables) },
    isReadOnly: service.read_only,
    mounts: mountsOf(service, image, file.secrets),
  });
}

function definedIn(
  environment: Readonly<Record<string, string | null>>,
  variables: NodeJS.ProcessEnv,
): Record<string, string> {
  const given = Object.entries(environment).map(([name, value]) => [name, value ?? variables[name]] as const);
  return Object.fromEntries(given.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

function mountsOf(
  service: ComposeService,
  image: ContainerImage,
  secrets: Readonly<Record<string, { file: string }>>,
): string[] {
  const volumes = service.volumes.map((volume) => {
    const [source = '', path = '', mode = 'rw'] = volume.split(':');
    if (source.startsWith('.')) return `${mode} ${resolve(source)} ${path}`;
    return `${mode} ${namedVolume(source, path, image)} ${path}`;
  });
  const files = service.secrets.map(
    ({ source, target }) => `ro ${resolve(secrets[source]?.file ?? source)} /run/secrets/${target}`,
  );
  return [...service.tmpfs.map((path) => `tmpfs ${path}`), ...volumes, ...files];
}

/** A new volume belongs to the owner of its place in the image, else to the user of the container. */
function namedVolume(name: string, path: string, image: ContainerImage): string {
  const folder = join(STATE, 'volumes', name);
  if (existsSync(folder)) return folder;
  mkdirSync(folder, { recursive: true });
  const place = join(image.root, path);
  const ids = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, image.user], { encoding: 'utf8' }).stdout));
  const [uid = 0, gid = 0] = image.root !== '/' && existsSync(place) ? [statSync(place).uid, statSync(place).gid] : ids;
  chownSync(folder, uid, gid);
  return folder;
}

/** Starts a part of this program once, in the background. */
function background(name: string, namespaces: readonly string[], words: readonly string[]): void {
  const note = join(STATE, name);
  if (existsSync(note)) return;
  writeFileSync(note, '');
  const enter = namespaces.length === 0 ? [] : ['nsenter', ...namespaces];
  const [program = '', ...rest] = [...enter, process.execPath, ...process.execArgv, __filename, ...words];
  spawn(program, rest, { stdio: 'ignore', detached: true }).unref();
}

function untilHealthy(container: Container): void {
  const { healthcheck, name } = container;
  if (healthcheck === null) return;
  untilTrue(() => {
    if (!isRunning(container)) throw new Error(`${name} has ended; see: docker compose logs`);
    return runInside(container, healthcheck, true) === 0;
  }, `${name} is unhealthy`);
}

const TRIES = 120;

/** Waits for a fact, about a minute. @throws Error with the problem. */
function untilTrue(isTrue: () => boolean, problem: string): void {
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (isTrue()) return;
    spawnSync('sleep', ['0.5']);
  }
  throw new Error(problem);
}

function exec(words: readonly string[]): number {
  const [service = '', ...command] = words.filter((word, at) => word !== '-T' || at > 0);
  const [container] = runningOf(service);
  if (container === undefined) throw new Error(`service "${service}" is not running`);
  return runInside(container, command);
}

function stop(services: readonly string[]): number {
  for (const container of containers()) {
    const isWanted = services.length === 0 || services.includes(container.service);
    if (!isWanted || !isRunning(container)) continue;
    const { tookMs, wasKilled } = stopContainer(container);
    process.stdout.write(`${container.name}: ${wasKilled ? 'killed' : 'stopped'} after ${tookMs} ms\n`);
  }
  return 0;
}

function down(words: readonly string[]): number {
  stop([]);
  if (words.includes('--volumes')) rmSync(join(STATE, 'volumes'), { recursive: true, force: true });
  return 0;
}

function ps(): number {
  for (const container of containers().filter(isRunning)) {
    const { healthcheck, name, address } = container;
    const isHealthy = healthcheck === null || runInside(container, healthcheck, true) === 0;
    process.stdout.write(`${name}  ${address}  ${isHealthy ? 'healthy' : 'unhealthy'}\n`);
  }
  return 0;
}

function logs(services: readonly string[]): number {
  for (const { name, service } of containers()) {
    if (services.length > 0 && !services.includes(service)) continue;
    process.stdout.write(readFileSync(join(STATE, `${name}.log`), 'utf8').replaceAll(/^/gm, `${name} | `));
  }
  return 0;
}

function publish([service = '', ...ports]: readonly string[]): number {
  for (const port of ports) {
    const [, host = '0.0.0.0', outside = '', inside = ''] = /^(?:([\d.]+):)?(\d+):(\d+)$/.exec(port) ?? [];
    publishPort({ host, port: Number(outside) }, () => {
      const [found] = runningOf(service);
      return found === undefined ? null : { host: found.address, port: Number(inside) };
    });
  }
  return 0;
}

/** The addresses of names outside of the containers: lines `address name` of a file. */
function outsideAddresses(name: string): string[] {
  const file = join(STATE, 'hosts');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line.endsWith(` ${name}`)).map((line) => line.split(' ')[0] ?? '');
}

function names([own = '']: readonly string[]): number {
  serveNames('127.0.0.11', {
    addressesOf: (name) => [...runningOf(name).map(({ address }) => address), ...outsideAddresses(name)],
    onReady: () => writeFileSync(join(STATE, `${own}.named`), ''),
  });
  return 0;
}

function run(words: readonly string[]): number {
  const [verb = '', ...rest] = words[0] === 'compose' ? words.slice(1) : words;
  if (verb === 'build') return findImage('towhook') === null ? 1 : 0;
  if (verb === 'up') return up(rest);
  if (verb === 'exec') return exec(rest);
  if (verb === 'run') return runOnce(rest);
  if (verb === 'stop') return stop(rest);
  if (verb === 'down') return down(rest);
  if (verb === 'ps') return ps();
  if (verb === 'logs') return logs(rest);
  if (verb === 'publish') return publish(rest);
  if (verb === 'names') return names(rest);
  throw new Error(`docker ${words.join(' ')}: not played by this program`);
}

try {
  process.exitCode = run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
