import { execFileSync } from 'node:child_process';
import { z } from 'zod';

/** What a container starts from. */
export interface ContainerImage {
  /** The folder of its root file system. */
  readonly root: string;
  readonly entrypoint: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly user: string;
  readonly workdir: string;
  readonly healthcheck: readonly string[] | null;
}

/** Programs of this machine in place of images that cannot be fetched; their root is that of this machine. */
const PROGRAMS: Readonly<Record<string, { user: string; entrypoint: readonly string[] }>> = {
  redis: { user: 'redis', entrypoint: [] },
  // Debian gives nginx another user than its image does.
  nginx: { user: 'www-data', entrypoint: [] },
  // The user without rights.
  'prom/prometheus': { user: '65534', entrypoint: ['prometheus'] },
};

const built = z.object({
  FromImageID: z.string(),
  Docker: z.object({
    config: z.object({
      Env: z.array(z.string()).default([]),
      Entrypoint: z.array(z.string()),
      User: z.string(),
      WorkingDir: z.string(),
      Healthcheck: z.object({ Test: z.array(z.string()) }),
    }),
  }),
});

/** The image of a name; null if it was not built and no program of this machine can take its place. */
export function findImage(name: string): ContainerImage | null {
  if (name === 'towhook') return builtImage(name);
  const program = PROGRAMS[name.split(':')[0] ?? ''];
  if (program === undefined) return null;
  const environment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
  return { root: '/', environment, workdir: '/', healthcheck: null, ...program };
}

/** The image that tools/build-image.sh has built, mounted once. */
function builtImage(name: string): ContainerImage {
  const { FromImageID: id, Docker } = built.parse(
    JSON.parse(buildah('inspect', '--type', 'image', `localhost/${name}`)),
  );
  const { config } = Docker;
  const container = `root-${id.slice(0, 12)}`;
  const names = buildah('containers', '--format', '{{.ContainerName}}').split('\n');
  if (!names.includes(container)) buildah('from', '--pull=never', '--name', container, id);
  const [kind, ...test] = config.Healthcheck.Test;
  return {
    root: buildah('mount', container),
    entrypoint: config.Entrypoint,
    environment: Object.fromEntries(config.Env.map((pair) => [pair.split('=')[0] ?? '', pair.replace(/^\w+=/, '')])),
    user: config.User,
    workdir: config.WorkingDir,
    healthcheck: kind === 'CMD' ? test : ['sh', '-c', ...test],
  };
}

function buildah(...words: string[]): string {
  return execFileSync('buildah', words, { encoding: 'utf8', maxBuffer: 10_000_000 }).trim();
}
