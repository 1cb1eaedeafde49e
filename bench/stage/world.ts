import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { startProgram, type Program, type ProgramName } from './programs';
import { startBenchRedis, type BenchRedis } from './redis';
import { startRole, type BenchRole, type RoleName } from './role';

/** Everything that one run of one contender uses, all of it its own. */
export interface BenchWorld {
  readonly redis: BenchRedis;
  /** The stub of the service, started at the first use. */
  service(): Promise<Service>;
  program(name: ProgramName): Program;
  /** Starts a role of towhook; `extra` is added to its environment. */
  role(name: RoleName, extra?: Readonly<Record<string, string>>): Promise<BenchRole>;
  /** Ends all that was started and removes the files. */
  close(): Promise<void>;
}

export interface Service extends Program {
  readonly url: string;
}

export const API_KEY = 'bench-bootstrap-api-key-of-towhook';

/** As in production, with budgets that limit nothing: what is measured is towhook and not the service's limits. */
const ENVIRONMENT = {
  NODE_ENV: 'production',
  WEBHOOK_UNVERIFIED: 'accept',
  BOOTSTRAP_API_KEY: API_KEY,
  SERVICE_CLIENT_ID: 'bench-client',
  SERVICE_CLIENT_SECRET: 'bench-client-secret',
  BUDGET_AUTH_PER_MINUTE: '0',
  BUDGET_SITE_PER_MINUTE: '0',
  BUDGET_VIOLATIONS_PER_MINUTE: '0',
  BUDGET_TICKETS_PER_MINUTE: '0',
  BUDGET_TOW_PER_MINUTE: '0',
  RECEIVER_PORT: '0',
  CONSOLE_PORT: '0',
  OPS_PORT: '0',
};

/** Opens a world with a fresh Redis. The caller closes it. */
export async function openWorld({ serviceLatencyMs }: { serviceLatencyMs: number }): Promise<BenchWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'towhook-bench-'));
  const redis = await startBenchRedis();
  const programs: Program[] = [];
  const roles: BenchRole[] = [];
  let service: Promise<Service> | null = null;
  const program = (name: ProgramName) => {
    const started = startProgram(name);
    programs.push(started);
    return started;
  };
  const openService = async (): Promise<Service> => {
    const stub = program('service-stub');
    const { url } = await stub.ask({ do: 'listen', latencyMs: serviceLatencyMs }, z.object({ url: z.string() }));
    return { ...stub, url };
  };
  const world: BenchWorld = {
    redis,
    service: () => (service ??= openService()),
    program,
    async role(name, extra = {}) {
      const { url } = await world.service();
      const own = { REDIS_URL: redis.url, DATA_DIR: folder, SERVICE_BASE_URL: url };
      const started = await startRole(name, { folder, environment: { ...ENVIRONMENT, ...own, ...extra } });
      roles.push(started);
      return started;
    },
    async close() {
      await Promise.all(roles.map((role) => role.kill()));
      await Promise.all(programs.map((each) => each.end()));
      await redis.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return world;
}
