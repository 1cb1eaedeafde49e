import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VARIABLES } from '../../src/platform/config/variables';
import { networks, serviceNamed, services, text, volumes } from './compose-file';
import { PROJECT } from '../support/project';

const ROLES = ['receiver', 'worker', 'console', 'simulator'];
const OTHERS = ['redis', 'proxy', 'prometheus', 'grafana'];
/** What the image fixes, and what makes no sense inside of it. */
const NOT_PASSED_ON = /^(NODE_ENV|DATA_DIR|REDIS_SERVER_BIN|(\w+_)?HOST|\w+_PORT)$/;
const SETTABLE = Object.keys(VARIABLES.shape).filter((name) => !NOT_PASSED_ON.test(name));
/** Secrets come as files, so that no description of a container shows them. */
const isSecret = (name: string) => SETTABLE.includes(`${name}_FILE`);

/** What the receiver reads: Redis and the keys of what it writes there, the proofs of webhooks, /metrics, and traces. */
const RECEIVER_READS =
  /^(REDIS|WEBHOOK|BUDGET|OTEL)_|^(INSTALLATION|DATA_KEYS_FILE|STOP_DELAY_MS|STOP_GRACE_MS|LOG_LEVEL|SERVICE_MODE|TRUST_PROXY|KEEP_VIOLATIONS_HOURS)$/;

/** The files that name secrets besides docker-compose.yml. */
const SETTINGS: Readonly<Record<string, string>> = {
  proxy: 'deploy/nginx/nginx.conf',
  prometheus: 'deploy/prometheus/prometheus.yml',
};

function settingsOf(name: string): string {
  const path = SETTINGS[name];
  return path === undefined ? '' : readFileSync(join(PROJECT, path), 'utf8');
}

const example = readFileSync(join(PROJECT, '.env.example'), 'utf8');

/** The bytes of a limit such as `512m`; of `${NAME:-2g}` the default. */
function bytesOf(limit = ''): number {
  const [, number, unit] = /(\d+)([mg])\b/.exec(limit) ?? [];
  return Number(number) * (unit === 'g' ? 1024 : 1) * 1024 * 1024;
}

describe('docker-compose.yml', () => {
  test('docker-compose.yml runs Redis and every role from one image', () => {
    expect(Object.keys(services).toSorted()).toEqual([...OTHERS, ...ROLES].toSorted());
    for (const role of ROLES) {
      expect(serviceNamed(role)).toMatchObject({ image: 'towhook', command: [role], restart: 'unless-stopped' });
    }
  });

  test('docker-compose.yml runs Redis with every write synced to a volume and without eviction', () => {
    const redis = serviceNamed('redis');
    const flags = redis.command.join(' ');
    expect(flags).toContain('--appendonly yes --appendfsync always');
    expect(flags).toContain('--no-appendfsync-on-rewrite no');
    expect(flags).toContain('--maxmemory-policy noeviction');
    expect(flags).toContain('--hash-max-listpack-value 2048 --list-compress-depth 1');
    expect(redis.volumes).toEqual(['redis:/data']);
    expect(Object.keys(volumes)).toEqual(['redis', 'data', 'backups', 'prometheus', 'grafana']);
    expect(redis['healthcheck']).toBeDefined();
  });

  test('docker-compose.yml starts the roles only when Redis answers', () => {
    for (const role of ROLES) {
      expect(serviceNamed(role)['depends_on']).toEqual({ redis: { condition: 'service_healthy' } });
      expect(serviceNamed(role).environment['REDIS_URL']).toBe('${REDIS_URL:-redis://redis:6379}');
    }
  });

  test('docker-compose.yml runs the simulator only in its profile', () => {
    expect(serviceNamed('simulator').profiles).toEqual(['simulator']);
    for (const name of ['redis', 'proxy', 'receiver', 'worker', 'console']) {
      expect(serviceNamed(name).profiles).toBeUndefined();
    }
  });

  test('docker-compose.yml publishes only the TLS proxy to other machines', () => {
    const open = Object.entries(services).flatMap(([name, { ports }]) =>
      ports.filter((port) => !port.startsWith('127.0.0.1:')).map((port) => `${name} ${port}`),
    );
    expect(open).toEqual(['proxy 443:8443', 'proxy 8443:8444']);
    // Fixed ports would keep a service from running in several containers.
    for (const name of ['redis', 'receiver', 'worker', 'console']) expect(serviceNamed(name).ports).toEqual([]);
  });

  test('docker-compose.yml shares one data folder between worker and console alone', () => {
    const common = './secrets/common:/run/secrets/common:ro';
    const service = './secrets/service:/run/secrets/service:ro';
    expect(ROLES.map((role) => serviceNamed(role).volumes)).toEqual([
      [common],
      [common, service, 'data:/data'],
      [common, service, 'data:/data', '${BACKUP_FOLDER:-backups}:/backups'],
      [common, service],
    ]);
  });

  test('docker-compose.yml gives the receiver no API key, no credentials and no variable that only others read', () => {
    const names = Object.keys(serviceNamed('receiver').environment);
    expect(names.filter((name) => !RECEIVER_READS.test(name))).toEqual([]);
    expect(Object.keys(serviceNamed('console').environment)).toEqual(expect.arrayContaining(names));
  });

  test('docker-compose.yml gives the worker no proof of webhooks, and the first API key to the console alone', () => {
    const names = Object.keys(serviceNamed('worker').environment);
    expect(names.filter((name) => /^WEBHOOK_(SECRETS|SHARED)|^BOOTSTRAP/.test(name))).toEqual([]);
    expect(serviceNamed('worker').secrets).toEqual(['redis_password', 'service_client_secret']);
    const withKey = ROLES.filter((role) => serviceNamed(role).secrets.includes('bootstrap_api_key'));
    expect(withKey).toEqual(['console']);
  });

  test('docker-compose.yml lets only the containers that need Redis reach it', () => {
    expect(networks).toMatchObject({ records: { internal: true } });
    expect(serviceNamed('redis').networks).toEqual(['records']);
    for (const role of ['receiver', 'worker', 'console']) {
      expect(serviceNamed(role).networks).toEqual(['default', 'records']);
    }
    expect(serviceNamed('simulator').networks).toEqual(['default']);
  });

  test('docker-compose.yml names an exact version of Redis and limits the memory of every container', () => {
    expect(serviceNamed('redis').image).toMatch(/^redis:\d+\.\d+\.\d+-alpine$/);
    for (const name of [...OTHERS, ...ROLES]) expect(serviceNamed(name).mem_limit).toMatch(/\d+[mg]\b/);
    expect(serviceNamed('redis').command.join(' ')).toMatch(/--maxmemory \S+/);
  });

  test('docker-compose.yml limits what the log of each container takes of the disk', () => {
    for (const name of [...OTHERS, ...ROLES]) {
      expect([name, serviceNamed(name)['logging']]).toEqual([
        name,
        { driver: 'local', options: { 'max-size': '20m', 'max-file': '5' } },
      ]);
    }
  });

  test('docker-compose.yml gives the console memory for the data of Redis once more, to verify a backup', () => {
    const gigabyte = 1024 ** 3;
    const limitOf = (name: string) => bytesOf(serviceNamed(name).mem_limit);
    expect(limitOf('console')).toBeGreaterThanOrEqual(limitOf('redis') + gigabyte);
    const exampleOf = (name: string) => bytesOf(new RegExp(`^${name}=(.*)$`, 'm').exec(example)?.[1]);
    expect(exampleOf('CONSOLE_MEMORY_LIMIT')).toBeGreaterThanOrEqual(exampleOf('REDIS_MEMORY_LIMIT') + gigabyte);
  });

  test('the page about going live names the memory of the containers of production', () => {
    const page = readFileSync(join(PROJECT, 'docs', 'operations', 'go-live.md'), 'utf8');
    const production = ['redis', 'proxy', 'receiver', 'receiver', 'worker', 'worker', 'console'];
    const gigabytesOf = (names: readonly string[]) =>
      Math.ceil(names.reduce((sum, name) => sum + bytesOf(serviceNamed(name).mem_limit), 0) / 1024 ** 3);
    const [, least, all] = /(\d+) GB of memory,\s(\d+) GB\swith/.exec(page) ?? [];
    expect(Number(least)).toBe(gigabytesOf(production));
    expect(Number(all)).toBe(gigabytesOf([...production, 'simulator', 'prometheus', 'grafana']));
  });

  test('docker-compose.yml gives the proxy memory for the bodies of all its connections at once', () => {
    const nginx = settingsOf('proxy');
    const [webhooks = '', people = ''] = nginx.split(/^  server \{$/m).slice(1);
    const numberOf = (setting: string, part: string) => Number(new RegExp(`${setting} (\\d+)`).exec(part)?.[1]);
    const bodyBytes = numberOf('client_max_body_size', webhooks) * 1024;
    expect(webhooks).toMatch(/client_max_body_size \d+k;/);
    expect(bodyBytes).toBeGreaterThan(VARIABLES.parse({}).WEBHOOK_BODY_LIMIT_BYTES);
    const connections = numberOf('worker_processes', nginx) * numberOf('worker_connections', nginx);
    expect(bytesOf(serviceNamed('proxy').mem_limit)).toBeGreaterThan(connections * (bodyBytes + 64 * 1024));
    // Forms with images are larger than that, so they are passed on as they come.
    expect(people).toContain('proxy_request_buffering off;');
  });

  test('the proxy serves the console over HTTP/2, on one connection for all windows of a browser', () => {
    const [, , people = ''] = settingsOf('proxy').split(/^  server \{$/m);
    expect(people).toContain('    listen 8444 ssl http2;\n');
  });

  test('the proxy limits connections, requests and slow senders of each address on both ports', () => {
    const [common = '', ...servers] = settingsOf('proxy').split(/^  server \{$/m);
    for (const setting of ['client_header_timeout', 'client_body_timeout', 'send_timeout', 'keepalive_timeout']) {
      expect(common).toMatch(new RegExp(`^  ${setting} \\d+s;$`, 'm'));
    }
    expect(servers).toHaveLength(2);
    for (const server of servers) {
      const [, connections] = /^    limit_conn (\w+) \d+;$/m.exec(server) ?? [];
      const [, requests] = /^    limit_req zone=(\w+) burst=\d+ nodelay;$/m.exec(server) ?? [];
      expect(common).toMatch(new RegExp(`limit_conn_zone \\$binary_remote_addr zone=${connections}:`));
      expect(common).toMatch(new RegExp(`limit_req_zone \\$binary_remote_addr zone=${requests}:`));
    }
  });

  test('the proxy logs no address of the console with its query, which may name a plate', () => {
    const nginx = settingsOf('proxy');
    const [, people = ''] = nginx.split(/^  server \{$/m).slice(1);
    expect(nginx).toContain('access_log /dev/stdout without_query;');
    expect(/log_format without_query ([^;]+);/.exec(nginx)?.[1]).not.toMatch(
      /\$(request|request_uri|args|http_referer)\b/,
    );
    // Lines of the levels error and warn have the whole first line of the request, and its Referer.
    expect(people).toContain('error_log stderr crit;');
  });

  test('docker-compose.yml refuses to start without the variables that have no default', () => {
    const required = [...text.matchAll(/\$\{(\w+):\?[^}]+\}/g)].map((match) => match[1]);
    expect(required).toEqual(['SERVICE_BASE_URL', 'SERVICE_CLIENT_ID']);
  });

  test('docker-compose.yml passes on exactly the variables of the configuration that can be set', () => {
    const passedOn = ROLES.flatMap((role) => Object.keys(serviceNamed(role).environment));
    expect([...new Set(passedOn)].toSorted()).toEqual(SETTABLE.filter((name) => !isSecret(name)).toSorted());
  });

  test('docker-compose.yml gives each container the files of the secrets that its variables name, and no other', () => {
    for (const [name, { environment, secrets }] of Object.entries(services)) {
      const given = [...Object.values(environment), ...serviceNamed(name).command, settingsOf(name)].join(' ');
      const named = [...given.matchAll(/\/run\/secrets\/([\w-]+)/g)].map(([, secret = '']) => secret);
      expect([name, secrets.toSorted()]).toEqual([name, [...new Set(named)].toSorted()]);
    }
  });

  test('docker-compose.yml runs every container without privileges, and all but Grafana with a read-only root', () => {
    for (const name of Object.keys(services)) {
      expect(serviceNamed(name)).toMatchObject({
        ...(name === 'grafana' ? {} : { read_only: true }),
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
    }
  });

  test('.env.example sets variables of docker-compose.yml only', () => {
    const named = [...example.matchAll(/^#?([A-Z_]+)=/gm)].map(([, name = '']) => name);
    const known = ROLES.flatMap((role) => Object.keys(serviceNamed(role).environment));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !known.includes(name) && !text.includes(`\${${name}`))).toEqual(['COMPOSE_PROFILES']);
  });

  test('docker-compose.yml runs every role below an init process, so that it can end itself by SIGKILL', () => {
    for (const role of ROLES) expect(serviceNamed(role)).toMatchObject({ init: true });
  });

  test('docker-compose.yml waits longer for a role to stop than the role takes', () => {
    for (const role of ROLES) {
      const seconds = Number(/^(\d+)s$/.exec(serviceNamed(role).stop_grace_period)?.[1]);
      expect(seconds * 1_000).toBeGreaterThan(VARIABLES.parse({}).STOP_GRACE_MS);
    }
  });
});
