import { VARIABLES } from '../../src/platform/variables';
import { networks, serviceNamed, services, text, volumes } from './compose-file';

const ROLES = ['receiver', 'worker', 'console', 'simulator'];
/** What the image fixes, and what makes no sense inside of it. */
const NOT_PASSED_ON = /^(NODE_ENV|DATA_DIR|REDIS_SERVER_BIN|(\w+_)?HOST|\w+_PORT)$/;

/** What the receiver reads: Redis, the proofs of webhooks, and what its private /metrics shows of budgets and the disk. */
const RECEIVER_READS = /^(REDIS|WEBHOOK|BUDGET)_|^(STOP_GRACE_MS|LOG_LEVEL|TRUST_PROXY|KEEP_VIOLATIONS_HOURS)$/;

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

  test('docker-compose.yml shares one data folder between worker and console alone', () => {
    for (const role of ['worker', 'console']) expect(serviceNamed(role).volumes).toEqual(['data:/data']);
    for (const role of ['receiver', 'simulator']) expect(serviceNamed(role).volumes).toEqual([]);
  });

  test('docker-compose.yml gives the receiver no key, no credentials and no variable that only others read', () => {
    const names = Object.keys(serviceNamed('receiver').environment);
    expect(names.filter((name) => !RECEIVER_READS.test(name))).toEqual([]);
    for (const role of ['worker', 'console']) {
      expect(Object.keys(serviceNamed(role).environment)).toEqual(expect.arrayContaining(names));
    }
  });

  test('docker-compose.yml lets only the containers that need Redis reach it', () => {
    expect(networks).toEqual({ records: { internal: true } });
    expect(serviceNamed('redis').networks).toEqual(['records']);
    for (const role of ['receiver', 'worker', 'console']) {
      expect(serviceNamed(role).networks).toEqual(['default', 'records']);
    }
    expect(serviceNamed('simulator').networks).toEqual(['default']);
  });

  test('docker-compose.yml names an exact version of Redis and limits the memory of every container', () => {
    expect(serviceNamed('redis').image).toMatch(/^redis:\d+\.\d+\.\d+-alpine$/);
    for (const name of ['redis', ...ROLES]) expect(serviceNamed(name).mem_limit).toMatch(/\d+[mg]\b/);
    expect(serviceNamed('redis').command.join(' ')).toMatch(/--maxmemory \S+/);
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
