import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { VARIABLES } from '../../src/platform/variables';

const environment = z.record(z.string(), z.string().nullable());
const service = z.looseObject({
  command: z.array(z.string()),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  profiles: z.array(z.string()).optional(),
  environment: environment.default({}),
  restart: z.string(),
  stop_grace_period: z.string(),
});
const compose = z.looseObject({ services: z.record(z.string(), service), volumes: z.record(z.string(), z.null()) });

const text = readFileSync(join(__dirname, '..', '..', 'docker-compose.yml'), 'utf8');
const { services, volumes } = compose.parse(parse(text, { merge: true }));

function serviceNamed(name: string): z.output<typeof service> {
  const found = services[name];
  if (found === undefined) throw new Error(`no service ${name}`);
  return found;
}

const ROLES = ['receiver', 'worker', 'console', 'simulator'];
/** What the image fixes, and what makes no sense inside of it. */
const NOT_PASSED_ON = /^(NODE_ENV|DATA_DIR|REDIS_SERVER_BIN|(\w+_)?HOST|\w+_PORT)$/;

describe('docker-compose.yml', () => {
  test('docker-compose.yml runs Redis and every role from one image', () => {
    expect(Object.keys(services)).toEqual(['redis', ...ROLES]);
    for (const role of ROLES) {
      expect(serviceNamed(role)).toMatchObject({ image: 'towhook', command: [role], restart: 'unless-stopped' });
    }
  });

  test('docker-compose.yml runs Redis with every write synced to a volume and without eviction', () => {
    const redis = serviceNamed('redis');
    const flags = redis.command.join(' ');
    expect(flags).toContain('--appendonly yes --appendfsync always');
    expect(flags).toContain('--maxmemory-policy noeviction');
    expect(redis.volumes).toEqual(['redis:/data']);
    expect(Object.keys(volumes)).toEqual(['redis', 'data']);
    expect(redis['healthcheck']).toBeDefined();
  });

  test('docker-compose.yml starts the roles only when Redis answers', () => {
    for (const role of ROLES) {
      expect(serviceNamed(role)['depends_on']).toEqual({ redis: { condition: 'service_healthy' } });
      expect(serviceNamed(role).environment['REDIS_URL']).toBe('redis://redis:6379');
    }
  });

  test('docker-compose.yml runs the simulator only in its profile', () => {
    expect(serviceNamed('simulator').profiles).toEqual(['simulator']);
    for (const name of ['redis', 'receiver', 'worker', 'console']) {
      expect(serviceNamed(name).profiles).toBeUndefined();
    }
  });

  test('docker-compose.yml publishes only the receiver to other machines', () => {
    const open = Object.entries(services).flatMap(([name, { ports }]) =>
      ports.filter((port) => !port.startsWith('127.0.0.1:')).map((port) => `${name} ${port}`),
    );
    expect(open).toEqual(['receiver 3000:3000']);
    expect(serviceNamed('redis').ports).toEqual([]);
  });

  test('docker-compose.yml shares one data folder between all roles', () => {
    for (const role of ROLES) expect(serviceNamed(role).volumes).toEqual(['data:/data']);
  });

  test('docker-compose.yml refuses to start without the variables that have no default', () => {
    const required = [...text.matchAll(/\$\{(\w+):\?[^}]+\}/g)].map((match) => match[1]);
    expect(required).toEqual(['SERVICE_BASE_URL', 'SERVICE_CLIENT_ID', 'SERVICE_CLIENT_SECRET', 'BOOTSTRAP_API_KEY']);
  });

  test('docker-compose.yml passes on exactly the variables of the configuration that can be set', () => {
    const settable = Object.keys(VARIABLES.shape).filter((name) => !NOT_PASSED_ON.test(name));
    const passedOn = ROLES.flatMap((role) => Object.keys(serviceNamed(role).environment));
    expect([...new Set(passedOn)].toSorted()).toEqual(settable.toSorted());
  });

  test('docker-compose.yml waits longer for a role to stop than the role takes', () => {
    for (const role of ROLES) {
      const seconds = Number(/^(\d+)s$/.exec(serviceNamed(role).stop_grace_period)?.[1]);
      expect(seconds * 1_000).toBeGreaterThan(VARIABLES.parse({}).STOP_GRACE_MS);
    }
  });
});
