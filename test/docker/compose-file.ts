import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { PROJECT } from '../support/project';

const environment = z.record(z.string(), z.string().nullable());
/** The name of its file below /run/secrets. */
const secretUse = z.union([z.string(), z.object({ target: z.string() }).transform(({ target }) => target)]);
const service = z.looseObject({
  image: z.string(),
  command: z.array(z.string()).default([]),
  secrets: z.array(secretUse).default([]),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  networks: z.array(z.string()).default(['default']),
  mem_limit: z.string().optional(),
  profiles: z.array(z.string()).optional(),
  environment: environment.default({}),
  restart: z.string(),
  stop_grace_period: z.string().default('10s'),
});
const compose = z.looseObject({
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.null()),
  networks: z.record(z.string(), z.looseObject({ internal: z.boolean().default(false) })).default({}),
});

export const text = readFileSync(join(PROJECT, 'docker-compose.yml'), 'utf8');
export const { services, volumes, networks } = compose.parse(parse(text, { merge: true }));

export function serviceNamed(name: string): z.output<typeof service> {
  const found = services[name];
  if (found === undefined) throw new Error(`no service ${name}`);
  return found;
}
