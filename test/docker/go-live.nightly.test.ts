import { execFile, execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { commandsIn } from '../architecture/documents';
import { ROOT } from '../architecture/sources';
import { compiledFile } from '../support/compiled';
import { eventually } from '../support/eventually';
import { isHelpOf, namedCommands } from '../docs/named-commands';
import { GATEWAY } from './engine/container';
import { startContainerHost, type ContainerHost } from './engine/host';

jest.setTimeout(600_000);

/** Runs a program with the environment of the test, which is not that of the process that runs it. */
const run = (program: string, words: readonly string[], options: { cwd?: string; maxBuffer?: number } = {}) =>
  promisify(execFile)(program, words, { ...options, env: process.env, encoding: 'utf8' });
const PAGE = 'docs/operations/go-live.md';
const PROGRAMS = [
  'buildah',
  'debootstrap',
  'openssl',
  'nginx',
  'redis-server',
  'prometheus',
  'unshare',
  'nsenter',
  'setpriv',
  'ip',
];
const IMAGE_BYTES_MAX = 250_000_000;

let folder = '';
let clone = '';
let host: ContainerHost | undefined;

/** Containers and images of this test; kept between runs, because the base image takes minutes. */
async function useOwnStorage(): Promise<void> {
  if (process.env['CONTAINERS_STORAGE_CONF'] !== undefined) return;
  const storage = join(ROOT, '.cache', 'containers');
  await mkdir(storage, { recursive: true });
  const settings = `[storage]\ndriver = "overlay"\ngraphroot = "${storage}/root"\nrunroot = "${storage}/run"\n`;
  await writeFile(join(storage, 'storage.conf'), settings);
  process.env['CONTAINERS_STORAGE_CONF'] = join(storage, 'storage.conf');
}

/** Where people receive notices: outside of the containers, by the names and the user of the page. */
async function startReceivers(): Promise<void> {
  const state = join(folder, 'state');
  const secrets = join(clone, 'secrets', 'service');
  await mkdir(state, { recursive: true });
  await mkdir(secrets, { recursive: true });
  await writeFile(join(state, 'hosts'), `${GATEWAY} mail.example\n${GATEWAY} chat.example\n`);
  const files = `-keyout "${folder}/mail-key.pem" -out "${folder}/mail.pem"`;
  const names = '-subj /CN=mail.example -addext subjectAltName=DNS:mail.example';
  await onHost(`openssl req -x509 -newkey rsa:2048 -nodes -days 2 ${names} ${files}`);
  await cp(join(folder, 'mail.pem'), join(secrets, 'mail_ca.pem'));
  const program = compiledFile('test/docker/engine/receivers.ts');
  await onHost(`setsid "${process.execPath}" "${program}" "${folder}" >"${folder}/receivers.log" 2>&1 &`);
}

/** What was received so far, oldest first. */
async function received<T>(name: 'mails' | 'webhooks', contract: z.ZodType<T>): Promise<T[]> {
  const text = await readFile(join(folder, name), 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [contract.parse(JSON.parse(line))]));
}

const mail = z.object({ to: z.array(z.string()), user: z.string(), isSecure: z.boolean(), text: z.string() });
const OUTAGE = 'towhook: The service fails on every call: all sending waits.';

/** The subjects of the mails; long ones are sent in several lines. */
async function subjects(): Promise<string[]> {
  const texts = (await received('mails', mail)).map(({ text }) => text.replaceAll(/\r\n[ \t]+/g, ' '));
  return texts.map((text) => /^Subject: (.*)$/m.exec(text)?.[1]?.trim() ?? '');
}

/** Copies what a clone has: the files that git knows, and those that it would add. */
async function copyProject(target: string): Promise<void> {
  const { stdout } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    maxBuffer: 10_000_000,
  });
  for (const path of stdout.trim().split('\n')) {
    await mkdir(dirname(join(target, path)), { recursive: true });
    await cp(join(ROOT, path), join(target, path), { force: true }).catch(() => undefined);
  }
}

const missing = PROGRAMS.filter((program) => {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return false;
  } catch {
    return true;
  }
});

beforeAll(async () => {
  if (missing.length > 0) throw new Error(`not installed: ${missing.join(', ')}`);
  if (process.getuid?.() !== 0) throw new Error('containers need root');
  await useOwnStorage();
  folder = await mkdtemp(join(tmpdir(), 'towhook-go-live-'));
  clone = join(folder, 'clone');
  await copyProject(clone);
  await run(join(clone, 'tools', 'build-image.sh'), [], { maxBuffer: 100_000_000 });
  process.env['DOCKER_STATE'] = join(folder, 'state');
  host = await startContainerHost({ folder: clone, bin: join(folder, 'bin') });
  await startReceivers();
});

afterAll(async () => {
  await host?.stop();
  await rm(folder, { recursive: true, force: true });
});

function onHost(command: string): Promise<string> {
  if (host === undefined) throw new Error('the host did not start');
  return host.run(command);
}

test('the image adds at most 250 MB to its base', async () => {
  const base = /^FROM (node:\S+) AS base$/m.exec(await readFile(join(ROOT, 'Dockerfile'), 'utf8'))?.[1] ?? '';
  const sizeOf = async (name: string) => {
    const { stdout } = await run('buildah', ['images', '--json', name]);
    const sized = z
      .array(z.looseObject({ id: z.string() }))
      .min(1)
      .parse(JSON.parse(stdout));
    const { stdout: container } = await run('buildah', ['from', '--pull=never', sized[0]?.id ?? '']);
    try {
      const { stdout: root } = await run('buildah', ['mount', container.trim()]);
      const { stdout: used } = await run('du', ['--summarize', '--bytes', '--one-file-system', root.trim()]);
      return Number.parseInt(used, 10);
    } finally {
      await run('buildah', ['rm', container.trim()]);
    }
  };
  expect((await sizeOf('localhost/towhook')) - (await sizeOf(base))).toBeLessThan(IMAGE_BYTES_MAX);
});

test('the commands of the page lead from a clone to two receivers and two workers behind TLS', async () => {
  const commands = commandsIn({ path: PAGE, text: await readFile(join(clone, PAGE), 'utf8') });
  expect(commands.length).toBeGreaterThan(15);
  // Alerts and figures come within seconds here.
  await onHost('sed -i -E "s/(for|keep_firing_for): .*/\\1: 4s/" deploy/prometheus/alerts.yml');
  await onHost('sed -i -E "s/interval: 15s/interval: 2s/" deploy/prometheus/prometheus.yml');
  // The receivers of this test have no certificate that the image trusts.
  await onHost('sed -i s,https://chat.example/,http://chat.example:8088/, .env.example');
  await onHost('echo "#NOTIFY_SMTP_CA_FILE=/run/secrets/service/mail_ca.pem" >> .env.example');
  const outputs = new Map<string, string>();
  for (const command of commands.filter((line) => !line.startsWith('docker compose down'))) {
    outputs.set(command, await onHost(command));
  }
  const outputOf = (part: string) => [...outputs].find(([command]) => command.includes(part))?.[1] ?? '';
  const containers = outputOf('compose ps').trim().split('\n');
  expect(containers.filter((line) => line.endsWith('  healthy'))).toEqual(containers);
  expect(containers.filter((line) => /^(receiver|worker)-[12] /.test(line))).toHaveLength(4);
  expect(outputOf('towhook doctor')).toContain('No faults, 0 warnings.');
  expect(outputOf('archive verify')).toContain('Torn batches: 0');
  expect(outputOf('audit verify')).toContain('The chain holds.');
  expect(outputOf('towhook backup')).toContain('Everything that was acknowledged before');
  expect(outputOf('towhook restore')).toContain('No faults, 0 warnings.\nNoted in Redis as verified.');
  expect(outputOf('migrate --check')).toContain('No migration is pending.');
  await eventually(async () => {
    const list = await onHost('docker compose exec -T console towhook tow list --json');
    expect(z.looseObject({ items: z.array(z.unknown()) }).parse(JSON.parse(list)).items).toHaveLength(3);
  });
});

test('the containers have no root user, no privilege and a root that cannot be written to', async () => {
  const inside = (service: string, command: string) => onHost(`docker compose exec -T ${service} sh -c '${command}'`);
  for (const service of ['receiver', 'worker', 'console']) {
    expect(await inside(service, 'id -u; grep -E "Cap(Eff|Bnd)|NoNewPrivs" /proc/self/status')).toMatch(
      /^1000\nCapEff:\s0+\nCapBnd:\s0+\nNoNewPrivs:\s1\n$/,
    );
    await expect(inside(service, 'touch /app/file')).rejects.toThrow('Read-only file system');
  }
});

test('a notice that the page sends as a test arrives by mail over TLS, and as a signed webhook', async () => {
  const tests = (await received('mails', mail)).filter(({ text }) => text.includes('Subject: towhook: test message'));
  expect(tests).toMatchObject([{ to: ['ops@towing.example'], user: 'towhook', isSecure: true }]);
  const secret = await readFile(join(clone, 'secrets/service/notify_webhook_secret'), 'utf8');
  const call = z.object({ headers: z.record(z.string(), z.string()), body: z.string() });
  const [posted] = await received('webhooks', call);
  expect(() => new Webhook(secret.trim()).verify(posted?.body ?? '', posted?.headers ?? {})).not.toThrow();
});

test('every command that a document, the console or an alert names exists in the image', async () => {
  const commands = namedCommands();
  const script = commands.map(({ words }) => `towhook ${words.join(' ')} --help; echo end-of-help`).join('; ');
  const helps = (await onHost(`docker compose exec -T console sh -c '${script}'`)).split('end-of-help');
  const absent = commands.filter((command, index) => !isHelpOf(command, helps[index] ?? ''));
  expect(absent).toEqual([]);
});

test('the demo plays in a container with a read-only root, on the Redis server of the image', async () => {
  const output = await onHost('docker compose exec -T console towhook demo --exit --tows 3');
  expect(output).toContain('PASSED: every report arrived');
});

test('no secret is in the environment or the command line of a container', async () => {
  const secrets = await onHost('cat secrets/*_password secrets/*_key secrets/*_secret* secrets/service/notify_*');
  // Processes that end meanwhile cannot be read.
  const shown = await onHost('cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n"; true');
  expect(shown).toContain('REDIS_PASSWORD_FILE=/run/secrets/redis_password');
  for (const secret of secrets.trim().split('\n')) expect(shown).not.toContain(secret);
});

/** The value of an expression in Prometheus; null without one. */
async function figure(expression: string): Promise<number | null> {
  const text = await onHost(`curl --silent --get localhost:9090/api/v1/query --data-urlencode 'query=${expression}'`);
  const sample = z.object({ value: z.tuple([z.number(), z.string()]) });
  const answer = z.object({ data: z.object({ result: z.array(sample) }) }).parse(JSON.parse(text));
  return answer.data.result[0] === undefined ? null : Number(answer.data.result[0].value[1]);
}

test('Prometheus reads the figures of every receiver, worker and console', async () => {
  await eventually(async () => expect(await figure('count(up == 1)')).toBe(5), 60_000);
  expect(await figure('max(towhook_gate_closed{gate="connection"})')).toBe(0);
});

test('an alert and a mail tell of a service that is away, and of its return', async () => {
  const firing = () => figure('count(ALERTS{alertname="TowhookServiceDown",alertstate="firing"})');
  const list = await onHost('docker compose exec -T console towhook tow list --json');
  const tows = z
    .looseObject({ items: z.array(z.looseObject({ towing_reference_id: z.string() })) })
    .parse(JSON.parse(list)).items;
  await onHost('docker compose stop simulator');
  for (const { towing_reference_id: tow } of tows) {
    const place = '--plate-number "KLM 7" --towed-location "King Fahd Road 12" --latitude 24.71 --longitude 46.67';
    await onHost(`docker compose exec -T console towhook tow started ${tow} ${place}`);
  }
  await eventually(async () => expect(await firing()).toBe(1), 120_000);
  await eventually(async () => expect(await subjects()).toContain(OUTAGE), 120_000);
  await onHost('docker compose up --detach --wait --scale receiver=2 --scale worker=2');
  await eventually(async () => expect(await firing()).toBeNull(), 120_000);
  await eventually(
    async () => expect(await subjects()).toContain(OUTAGE.replace('towhook: ', 'towhook: over: ')),
    180_000,
  );
});

test('the commands of the page about containers restore a backup after Redis has lost its data', async () => {
  const path = 'docs/operations/containers.md';
  const commands = commandsIn({ path, text: await readFile(join(clone, path), 'utf8') });
  const [backup = '', verify = '', ...restore] = commands.filter((line) =>
    /\/backups\/| stop | up |redis|resume/.test(line),
  );
  await onHost(backup);
  expect(await onHost(verify)).toContain('No faults');
  const tows = await onHost('docker compose exec -T console towhook tow list --json');
  const outputs: string[] = [];
  for (const command of restore) outputs.push(await onHost(command));
  expect(restore.join('\n')).toContain('redis-cli flushall');
  expect(outputs.join('')).toContain('Restored. Start the roles');
  expect(await onHost('docker compose exec -T console towhook tow list --json')).toBe(tows);
  expect(await onHost('docker compose exec -T console towhook audit verify')).toContain('The chain holds.');
});

test('the containers end in time when they are asked to, and their data goes with the volumes', async () => {
  const stopped = await onHost('docker compose down --volumes');
  expect(stopped.trim().split('\n').length).toBeGreaterThan(7);
  expect(stopped).not.toContain('killed');
});
