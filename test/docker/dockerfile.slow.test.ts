import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { z } from 'zod';
import { VARIABLES } from '../../src/platform/config/variables';
import { DEAD_PORT } from '../cli/fake-service';
import { portOf } from '../support/server-port';
import { serviceNamed } from './compose-file';
import { readCopy, readDockerfile, valuesOf, type BuildStage } from './dockerfile';
import { PROJECT } from '../support/project';

const stages = readDockerfile(readFileSync(join(PROJECT, 'Dockerfile'), 'utf8'));
const commandLine = z.array(z.string());

/** Docker takes an instruction's arguments as they stand only if they are JSON; else it puts a shell in between. */
const execForm = (value: string | undefined) => commandLine.parse(JSON.parse(value ?? ''));

function lastStage(): BuildStage {
  const last = stages.at(-1);
  if (last === undefined) throw new Error('the Dockerfile has no stage');
  return last;
}

describe('the image', () => {
  const run = lastStage();

  test('the image is built in one stage and runs from another on a small Node image of an exact version', () => {
    expect(stages.map(({ name, base }) => [name, base])).toEqual([
      ['base', expect.stringMatching(/^node:\d+\.\d+\.\d+-\w+-slim$/)],
      ['build', 'base'],
      ['redis', expect.stringMatching(/^redis:/)],
      ['run', 'base'],
    ]);
  });

  test('the image has a Redis server of the version of docker-compose.yml, whose snapshots it can read', () => {
    const versionOf = (image = '') => /^redis:(\d+\.\d+\.\d+)-/.exec(image)?.[1] ?? `no version in ${image}`;
    expect(versionOf(stages.find(({ name }) => name === 'redis')?.base)).toBe(versionOf(serviceNamed('redis').image));
  });

  test('the image holds only the locked packages of production', () => {
    const commands = valuesOf(run, 'RUN').join('\n');
    expect(commands).toContain('npm ci --omit=dev --legacy-peer-deps');
    expect(valuesOf(run, 'ENV').join(' ')).toContain('NODE_ENV=production');
  });

  test('the Dockerfile copies only files that exist in the build context', () => {
    const ignored = readFileSync(join(PROJECT, '.dockerignore'), 'utf8').trim().split('\n');
    expect(ignored[0]).toBe('*');
    const copies = stages.flatMap((item) => valuesOf(item, 'COPY').map(readCopy));
    const fromProject = copies.filter(({ stage }) => stage === null).flatMap(({ sources }) => sources);
    const fromStages = copies.flatMap(({ stage }) => (stage === null ? [] : [stage]));
    expect(fromProject).not.toEqual([]);
    expect(fromProject.filter((path) => !existsSync(join(PROJECT, path)))).toEqual([]);
    expect(ignored).toEqual(expect.arrayContaining(fromProject.map((path) => `!${path}`)));
    expect(stages.map(({ name }) => name)).toEqual(expect.arrayContaining(fromStages));
  });

  test('the image does not run as root and owns its data folder', () => {
    expect(valuesOf(run, 'USER')).toEqual(['node']);
    const names = run.instructions.map(({ name }) => name);
    expect(names.lastIndexOf('RUN')).toBeLessThan(names.indexOf('USER'));
    expect(valuesOf(run, 'VOLUME')).toEqual(['["/data"]']);
    expect(valuesOf(run, 'RUN').join('\n')).toContain('chown node:node /data');
  });

  test('the image starts node directly with all roles by default, so that signals reach it', () => {
    expect(execForm(valuesOf(run, 'ENTRYPOINT')[0])).toEqual(['node', 'dist/src/main/index.js']);
    expect(execForm(valuesOf(run, 'CMD')[0])).toEqual(['all']);
  });

  test('the image sets only variables of the configuration', () => {
    const names = valuesOf(run, 'ENV').flatMap((value) =>
      value
        .trim()
        .split(/\s+/)
        .map((pair) => pair.split('=')[0]),
    );
    expect(names).toContain('OPS_PORT');
    expect(Object.keys(VARIABLES.shape)).toEqual(expect.arrayContaining(names));
  });
});

describe('the health check of the image', () => {
  const [program = '', ...parameters] = execForm(/CMD (.*)$/.exec(valuesOf(lastStage(), 'HEALTHCHECK')[0] ?? '')?.[1]);
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** `null` is a port without a listener, like every port of another role. */
  async function check(statuses: readonly (number | null)[]): Promise<number> {
    const ports = await Promise.all(statuses.map(async (status) => (status === null ? DEAD_PORT : answering(status))));
    const names = ['OPS_PORT', 'RECEIVER_PORT', 'CONSOLE_PORT', 'SIMULATOR_PORT'];
    const env = Object.fromEntries(names.map((name, index) => [name, String(ports[index])]));
    const asking = spawn(program, parameters, { env: { ...process.env, ...env } });
    await once(asking, 'exit');
    return asking.exitCode ?? -1;
  }

  async function answering(status: number): Promise<number> {
    const server = createServer((request, response) => {
      response.statusCode = request.url === '/healthz' ? status : 404;
      response.end();
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return portOf(server);
  }

  test.each([
    ['a worker, with one listener', [200, null, null, null]],
    ['a console', [null, null, 200, null]],
    ['a simulator', [null, null, null, 200]],
    ['all roles in one', [200, 200, 200, null]],
  ])('the health check of the image finds %s healthy', async (_, statuses) => {
    expect(await check(statuses)).toBe(0);
  });

  test.each([
    ['that listens nowhere', [null, null, null, null]],
    ['of which one listener fails', [200, 500, null, null]],
  ])('the health check of the image finds a process unhealthy %s', async (_, statuses) => {
    expect(await check(statuses)).toBe(1);
  });
});
