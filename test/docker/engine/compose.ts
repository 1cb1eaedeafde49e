import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

/** Reads docker-compose.yml and .env as docker compose does, as far as this project uses it. */

const list = z.array(z.string()).default([]);
const secretUse = z.union([
  z.string().transform((name) => ({ source: name, target: name })),
  z.object({ source: z.string(), target: z.string() }),
]);

const service = z.looseObject({
  image: z.string(),
  command: list,
  environment: z.record(z.string(), z.string().nullable()).default({}),
  user: z.string().optional(),
  read_only: z.boolean().default(false),
  tmpfs: list,
  volumes: list,
  secrets: z.array(secretUse).default([]),
  ports: list,
  profiles: list,
  stop_grace_period: z.string().default('10s'),
  healthcheck: z.object({ test: z.tuple([z.literal('CMD-SHELL'), z.string()]) }).optional(),
});
export type ComposeService = z.output<typeof service>;

const compose = z.looseObject({
  services: z.record(z.string(), service),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
});
export type ComposeFile = z.output<typeof compose>;

/** The services of the folder with the variables of its `.env` below those of the shell. @throws Error for a missing one. */
export function readCompose(
  folder: string,
  shell: NodeJS.ProcessEnv,
): { file: ComposeFile; variables: NodeJS.ProcessEnv } {
  const variables = { ...readEnvFile(join(folder, '.env')), ...shell };
  return { file: readServices(readFileSync(join(folder, 'docker-compose.yml'), 'utf8'), variables), variables };
}

/** The services of the text with these variables and no other. */
export function readServices(text: string, variables: NodeJS.ProcessEnv): ComposeFile {
  return compose.parse(interpolated(parse(text, { merge: true }), variables));
}

function readEnvFile(path: string): Record<string, string> {
  if (!existsSync(path)) return {};
  const lines = readFileSync(path, 'utf8').matchAll(/^([A-Z_]+)=(.*)$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
}

function interpolated(value: unknown, variables: NodeJS.ProcessEnv): unknown {
  if (typeof value === 'string') return withVariables(value, variables);
  if (Array.isArray(value)) return value.map((item: unknown) => interpolated(item, variables));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, interpolated(item, variables)]));
}

/** `$$` is a dollar; `${NAME:-default}`, `${NAME-default}` and `${NAME:?problem}` as in a shell. */
function withVariables(text: string, variables: NodeJS.ProcessEnv): string {
  return text.replaceAll(/\$\$|\$\{(\w+)(?:(:?[-?])([^}]*))?\}/g, (all, name = '', rule = '', rest = '') => {
    if (all === '$$') return '$';
    const value = variables[String(name)];
    const isMissing = value === undefined || (String(rule).startsWith(':') && value === '');
    if (!isMissing) return value;
    if (String(rule).endsWith('?')) throw new Error(`required variable ${name} is missing a value: ${rest}`);
    return String(rest);
  });
}
