import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { z } from 'zod';
import { compiledFile } from '../../support/compiled';
import { GATEWAY } from './container';
import { startContainerHost, type ContainerHost } from './host';
import { PROJECT } from '../../support/project';

/** Runs a program with the environment of the test, which is not that of the process that runs it. */
export const run = (program: string, words: readonly string[], options: { cwd?: string; maxBuffer?: number } = {}) =>
  promisify(execFile)(program, words, { ...options, env: process.env, encoding: 'utf8' });

/**
 * What docs/operations/go-live.md needs: the image, a clone of the project on a host for containers, and outside of the
 * containers a mail server, a server for webhooks and an identity provider.
 */
export interface Rehearsal {
  /** What the servers outside of the containers wrote, and their certificates. */
  readonly folder: string;
  readonly clone: string;
  /** Runs a command in the clone and returns its output. Rejects with the output when it fails. */
  onHost(command: string): Promise<string>;
  /** The mails or webhooks that were received so far, oldest first. */
  received<T>(name: 'mails' | 'webhooks', contract: z.ZodType<T>): Promise<T[]>;
  /** Everything that Redis holds, as text. */
  redisText(): Promise<string>;
  stop(): Promise<void>;
}

export async function startRehearsal(): Promise<Rehearsal> {
  await useOwnStorage();
  const folder = await mkdtemp(join(tmpdir(), 'towhook-go-live-'));
  const clone = join(folder, 'clone');
  await copyProject(clone);
  await run(join(clone, 'tools', 'build-image.sh'), [], { maxBuffer: 100_000_000 });
  process.env['DOCKER_STATE'] = join(folder, 'state');
  const host = await startContainerHost({ folder: clone, bin: join(folder, 'bin') });
  await startReceivers(host, { folder, clone });
  return {
    folder,
    clone,
    onHost: (command) => host.run(command),
    async received(name, contract) {
      const text = await readFile(join(folder, name), 'utf8').catch(() => '');
      return text.split('\n').flatMap((line) => (line === '' ? [] : [contract.parse(JSON.parse(line))]));
    },
    async redisText() {
      const [, address = ''] = /^redis-1 +(\S+)/m.exec(await host.run('docker compose ps')) ?? [];
      const program = compiledFile('test/docker/engine/redis-text.ts');
      const url = `redis://:$(cat secrets/redis_password)@${address}:6379`;
      return host.run(`REDIS_URL="${url}" "${process.execPath}" "${program}"`);
    },
    async stop() {
      await host.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Containers and images of this test; kept between runs, because the base image takes minutes. */
async function useOwnStorage(): Promise<void> {
  if (process.env['CONTAINERS_STORAGE_CONF'] !== undefined) return;
  const storage = join(PROJECT, '.cache', 'containers');
  await mkdir(storage, { recursive: true });
  const settings = `[storage]\ndriver = "overlay"\ngraphroot = "${storage}/root"\nrunroot = "${storage}/run"\n`;
  await writeFile(join(storage, 'storage.conf'), settings);
  process.env['CONTAINERS_STORAGE_CONF'] = join(storage, 'storage.conf');
}

/** Copies what a clone has: the files that git knows, and those that it would add. */
async function copyProject(target: string): Promise<void> {
  const { stdout } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: PROJECT,
    maxBuffer: 10_000_000,
  });
  for (const path of stdout.trim().split('\n')) {
    await mkdir(dirname(join(target, path)), { recursive: true });
    await cp(join(PROJECT, path), join(target, path), { force: true }).catch(() => undefined);
  }
}

/** Starts the servers outside of the containers, with the names, ports and certificates of the page. */
async function startReceivers(
  host: ContainerHost,
  { folder, clone }: Record<'folder' | 'clone', string>,
): Promise<void> {
  const state = join(folder, 'state');
  const secrets = join(clone, 'secrets', 'service');
  await mkdir(state, { recursive: true });
  await mkdir(secrets, { recursive: true });
  const names = ['mail.example', 'chat.example', 'login.example'];
  await writeFile(join(state, 'hosts'), names.map((name) => `${GATEWAY} ${name}\n`).join(''));
  for (const [name, file] of [
    ['mail', 'mail_ca.pem'],
    ['login', 'oidc_ca.pem'],
  ] as const) {
    const files = `-keyout "${folder}/${name}-key.pem" -out "${folder}/${name}.pem"`;
    const subject = `-subj /CN=${name}.example -addext subjectAltName=DNS:${name}.example`;
    await host.run(`openssl req -x509 -newkey rsa:2048 -nodes -days 2 ${subject} ${files}`);
    await cp(join(folder, `${name}.pem`), join(secrets, file));
  }
  const program = compiledFile('test/docker/engine/receivers.ts');
  await host.run(`setsid "${process.execPath}" "${program}" "${folder}" >"${folder}/receivers.log" 2>&1 &`);
}
