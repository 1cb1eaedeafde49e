import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { commandsIn } from '../architecture/documents';
import { eventually } from '../support/eventually';
import { isHelpOf, namedCommands } from '../docs/named-commands';
import { run, startRehearsal, type Rehearsal } from './engine/rehearsal';
import { PROJECT } from '../support/project';

jest.setTimeout(600_000);

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

let rehearsal: Rehearsal | undefined;

const mail = z.object({ to: z.array(z.string()), user: z.string(), isSecure: z.boolean(), text: z.string() });
const OUTAGE = 'towhook: The service fails on every call: all sending waits.';

/** The subjects of the mails; long ones are sent in several lines. */
async function subjects(): Promise<string[]> {
  const texts = (await current().received('mails', mail)).map(({ text }) => text.replaceAll(/\r\n[ \t]+/g, ' '));
  return texts.map((text) => /^Subject: (.*)$/m.exec(text)?.[1]?.trim() ?? '');
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
  rehearsal = await startRehearsal();
});

afterAll(() => rehearsal?.stop());

function current(): Rehearsal {
  if (rehearsal === undefined) throw new Error('the rehearsal did not start');
  return rehearsal;
}

const onHost = (command: string) => current().onHost(command);

test('the image adds at most 250 MB to its base', async () => {
  const base = /^FROM (node:\S+) AS base$/m.exec(await readFile(join(PROJECT, 'Dockerfile'), 'utf8'))?.[1] ?? '';
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
  const commands = commandsIn({ path: PAGE, text: await readFile(join(current().clone, PAGE), 'utf8') });
  expect(commands.length).toBeGreaterThan(15);
  // Alerts and figures come within seconds here.
  await onHost('sed -i -E "s/(for|keep_firing_for): .*/\\1: 4s/" deploy/prometheus/alerts.yml');
  await onHost('sed -i -E "s/interval: 15s/interval: 2s/" deploy/prometheus/prometheus.yml');
  // The receivers of this test have no certificate that the image trusts.
  await onHost('sed -i s,https://chat.example/,http://chat.example:8088/, .env.example');
  await onHost('sed -i s,https://login.example/realms/towing,https://login.example:8447, .env.example');
  await onHost('echo "#NOTIFY_SMTP_CA_FILE=/run/secrets/service/mail_ca.pem" >> .env.example');
  await onHost('echo "#OIDC_CA_FILE=/run/secrets/service/oidc_ca.pem" >> .env.example');
  const outputs = new Map<string, string>();
  for (const command of commands.filter((line) => !line.startsWith('docker compose down'))) {
    if (command.includes('secrets/common/data-keys')) await recordPlainText();
    outputs.set(command, await onHost(command));
  }
  const outputOf = (part: string) => [...outputs].find(([command]) => command.includes(part))?.[1] ?? '';
  const containers = outputOf('compose ps').trim().split('\n');
  expect(containers.filter((line) => line.endsWith('  healthy'))).toEqual(containers);
  expect(containers.filter((line) => /^(receiver|worker)-[12] /.test(line))).toHaveLength(4);
  expect(outputOf('towhook doctor')).toContain('No faults, 0 warnings.');
  expect(outputOf('towhook doctor')).toContain('https://localhost:8443/sign-in/oidc/callback');
  expect(outputOf('archive verify')).toContain('Torn batches: 0');
  expect(outputOf('audit verify')).toContain('The chain holds.');
  for (const backup of ['first', 'encrypted']) {
    expect(outputOf(`towhook backup /backups/${backup}`)).toContain('Everything that was acknowledged before');
    const verified = outputOf(`towhook restore /backups/${backup} --verify`);
    expect(verified).toContain('No faults, 0 warnings.\nNoted in Redis as verified.');
  }
  expect(outputOf('migrate --check')).toContain('No migration is pending.');
  expect(await tows()).toHaveLength(3);
});

/** Personal data that tows get: before the encryption is switched on, and after it. */
const PLACES = ['King Fahd Road 12', 'Olaya Street 7'];
const PLATES = ['KLM 7', 'RST 8'];
const PERSONAL = [...PLACES, ...PLATES, 'klm7', 'rst8'];

const tow = z.looseObject({ towing_reference_id: z.string(), state: z.string() });

/** The tows of the board. */
async function tows(): Promise<z.infer<typeof tow>[]> {
  const list = await onHost('docker compose exec -T console towhook tow list --json');
  return z.looseObject({ items: z.array(tow) }).parse(JSON.parse(list)).items;
}

/** Has the simulated service request one more tow. Returns its reference. */
async function requestTow(): Promise<string> {
  const known = (await tows()).map(({ towing_reference_id: reference }) => reference);
  const json = "-H 'content-type: application/json'";
  await onHost(`curl --fail --silent -X POST localhost:3002/simulator/tow-requests ${json} -d '{"count": 1}'`);
  return eventually(async () => {
    const added = (await tows()).filter(({ towing_reference_id: reference }) => !known.includes(reference));
    expect(added).toHaveLength(1);
    return added[0]?.towing_reference_id ?? '';
  });
}

async function start(reference: string, at: 0 | 1): Promise<void> {
  const place = `--plate-number "${PLATES[at]}" --towed-location "${PLACES[at]}" --latitude 24.71 --longitude 46.67`;
  await onHost(`docker compose exec -T console towhook tow started ${reference} ${place}`);
}

/** Starts a tow while nothing is encrypted, so that there is something to encrypt. */
async function recordPlainText(): Promise<void> {
  const [first] = await eventually(async () => {
    const all = await tows();
    expect(all).toHaveLength(3);
    return all;
  });
  await start(first?.towing_reference_id ?? '', 0);
  expect(await current().redisText()).toContain(PLACES[0]);
  expect(await filesOfRedisWith(PLACES[0] ?? '')).not.toBe('');
}

/** The names of the files on the disk of Redis that contain a text. */
function filesOfRedisWith(text: string): Promise<string> {
  return onHost(
    `grep --recursive --files-with-matches --text --fixed-strings "${text}" "$DOCKER_STATE/volumes/redis" || true`,
  );
}

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
  const tests = (await current().received('mails', mail)).filter(({ text }) =>
    text.includes('Subject: towhook: test message'),
  );
  expect(tests).toMatchObject([{ to: ['ops@towing.example'], user: 'towhook', isSecure: true }]);
  const secret = await readFile(join(current().clone, 'secrets/service/notify_webhook_secret'), 'utf8');
  const call = z.object({ headers: z.record(z.string(), z.string()), body: z.string() });
  const [posted] = await current().received('webhooks', call);
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

test('a person signs in through the proxy with their account, sees the board, and signs out at the provider too', async () => {
  const { folder } = current();
  await onHost(`cat secrets/tls_certificate.pem "${folder}/login.pem" > "${folder}/authorities.pem"`);
  const jar = `--cookie "${folder}/cookies" --cookie-jar "${folder}/cookies"`;
  const trust = `--cacert "${folder}/authorities.pem" --resolve login.example:8447:127.0.0.1`;
  const browse = (words: string) => onHost(`curl --fail --silent --show-error --location ${jar} ${trust} ${words}`);
  const board = await browse("'https://localhost:8443/sign-in/oidc?next=/board'");
  expect(board).toContain('Layla Haddad');
  for (const { towing_reference_id: reference } of await tows()) expect(board).toContain(reference);

  const [, token = ''] = /name="form_token" value="([^"]+)"/.exec(board) ?? [];
  const left = await browse(`--data-urlencode form_token=${token} https://localhost:8443/sign-out`);
  const [, address = ''] = /href="(https:\/\/login\.example[^"]+)"/.exec(left) ?? [];
  expect(await browse(`'${address.replaceAll('&amp;', '&')}'`)).toContain('href="/sign-in/oidc?next=');
  expect(await browse('https://localhost:8443/board')).not.toContain('Layla Haddad');
});

test('no secret is in the environment or the command line of a container', async () => {
  const secrets = await onHost('cat secrets/*_password secrets/*_key secrets/*_secret* secrets/service/notify_*');
  const others = await onHost('cat secrets/service/oidc_client_secret; cut -d: -f2 secrets/common/data-keys');
  // Processes that end meanwhile cannot be read.
  const shown = await onHost('cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n"; true');
  expect(shown).toContain('REDIS_PASSWORD_FILE=/run/secrets/redis_password');
  for (const secret of `${secrets}${others}`.trim().split('\n')) expect(shown).not.toContain(secret);
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
  expect(await figure('max(towhook_circuit_open{circuit="connection"})')).toBe(0);
});

test('an alert and a mail tell of a service that is away, and of its return', async () => {
  const firing = () => figure('count(ALERTS{alertname="TowhookOutage",alertstate="firing"})');
  // One has started already, and an outage is one of three calls.
  await requestTow();
  await onHost('docker compose stop simulator');
  const requested = (await tows()).filter(({ state }) => state === 'requested');
  expect(requested).toHaveLength(3);
  for (const { towing_reference_id: reference } of requested) await start(reference, 1);
  await eventually(async () => expect(await firing()).toBe(1), 120_000);
  await eventually(async () => expect(await subjects()).toContain(OUTAGE), 120_000);
  await onHost('docker compose up --detach --wait --scale receiver=2 --scale worker=2');
  await eventually(async () => expect(await firing()).toBeNull(), 120_000);
  await eventually(
    async () => expect(await subjects()).toContain(OUTAGE.replace('towhook: ', 'towhook: over: ')),
    180_000,
  );
});

test('a tow is carried to its payment, and what it contains is encrypted in Redis, on its disk and absent from the logs', async () => {
  const towhook = (words: string) => onHost(`docker compose exec -T console towhook ${words}`);
  // The simulated service has forgotten the earlier tows.
  const reference = await requestTow();
  await start(reference, 1);
  const report = z.looseObject({ kind: z.string(), state: z.string() });
  const shown = z.looseObject({ invoices: z.array(z.unknown()), reports: z.array(report) });
  const show = async () => shown.parse(JSON.parse(await towhook(`tow show ${reference} --json`)));
  await towhook(`tow detained ${reference}`);
  await towhook(`tow invoice ${reference} --vehicle-type HEAVY`);
  await eventually(async () => expect((await show()).invoices).not.toEqual([]), 60_000);
  await towhook(`tow payment ${reference}`);
  await eventually(async () => {
    const { reports } = await show();
    expect(reports.map(({ kind, state }) => `${kind} ${state}`)).toEqual(
      ['started', 'detained', 'invoice', 'payment'].map((kind) => `${kind} accepted`),
    );
  });

  const checked = z.object({ first: z.string(), keys: z.array(z.unknown()), plain: z.number() });
  const { first, keys, plain } = checked.parse(JSON.parse(await towhook('re-encrypt --check --json')));
  expect([first, keys.length, plain]).toEqual(['2026-11', 1, 0]);
  const stored = await current().redisText();
  expect(stored).toContain(reference);
  const logs = await onHost('docker compose logs');
  // The name of a person who signs in is in the session and the audit, which stay plain.
  expect(logs).not.toContain('Layla Haddad');
  for (const text of PERSONAL) {
    const found = [stored.includes(text), logs.includes(text), await filesOfRedisWith(text)];
    expect([text, ...found]).toEqual([text, false, false, '']);
  }
  expect(await towhook(`tow show ${reference}`)).toContain(PLATES[1]);
});

test('the commands of the page about containers restore a backup after Redis has lost its data', async () => {
  const path = 'docs/operations/containers.md';
  const commands = commandsIn({ path, text: await readFile(join(current().clone, path), 'utf8') });
  const [backup = '', verify = '', ...restore] = commands.filter(
    (line) => /\/backups\/| stop | up |redis|resume/.test(line) && !line.includes('violation import'),
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
