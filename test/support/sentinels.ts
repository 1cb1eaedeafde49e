import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask } from '../../src/embedded-redis/probe';
import { lastingPort } from './lasting-port';
import { serverCommand } from '../../src/embedded-redis/server-binary';
import { eventually } from './eventually';
import { testServer, type TestRedis } from './redis-server';

/** The name of the master at the Sentinels of the tests. */
export const MASTER_NAME = 'towhook-master';

/** Makes a server a replica; resolves when it has the data of the master. */
export async function makeReplica(replica: Pick<TestRedis, 'ask'>, masterPort: number): Promise<void> {
  await replica.ask('REPLICAOF', '127.0.0.1', String(masterPort));
  const isUp: unknown = expect.stringContaining('master_link_status:up');
  await eventually(async () => expect(await replica.ask('INFO', 'replication')).toEqual(isUp), 60_000);
}

/** Sentinels that watch one master. */
export interface Sentinels {
  /** As in REDIS_SENTINELS. */
  readonly list: string;
  /** The port of the master as the first Sentinel knows it. */
  masterPort(): Promise<number>;
  /** Resolves when each Sentinel knows this many replicas and all the other Sentinels. */
  untilAllKnown(replicas: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts `count` Sentinels; one more than half of them agree on a failover. With settings of TLS, `list` has the ports for
 * TLS, and the master is watched by TLS. `downAfterMs`: how long the master may not answer before a failover.
 */
export async function startSentinels(
  masterPort: number,
  count: number,
  tls: Readonly<Record<string, string>> | null = null,
  downAfterMs = 2000,
): Promise<Sentinels> {
  const folder = await mkdtemp(join(tmpdir(), 'towhook-sentinels-'));
  const server = await testServer();
  const processes: ChildProcess[] = [];
  const ports: number[] = [];
  const clientPorts: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const port = await lastingPort();
    const clientPort = tls === null ? port : await lastingPort();
    const file = join(folder, `${index}.conf`);
    const quorum = Math.floor(count / 2) + 1;
    const settings = [
      `port ${port}`,
      ...Object.entries(tls === null ? {} : { ...tls, 'tls-port': String(clientPort) }).map((pair) => pair.join(' ')),
      'bind 127.0.0.1',
      `dir ${folder}`,
      `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${masterPort} ${quorum}`,
      `sentinel down-after-milliseconds ${MASTER_NAME} ${downAfterMs}`,
      `sentinel failover-timeout ${MASTER_NAME} 10000`,
    ];
    await writeFile(file, settings.join('\n'));
    const [program, parameters] = serverCommand(server, [file, '--sentinel']);
    processes.push(spawn(program, parameters, { stdio: 'ignore' }));
    ports.push(port);
    clientPorts.push(clientPort);
  }
  const [first = 0] = ports;
  const field = async (port: number, name: string) => {
    const fields = await ask(port, ['SENTINEL', 'MASTER', MASTER_NAME]);
    return Array.isArray(fields) ? String(fields[fields.indexOf(name) + 1]) : '';
  };
  await eventually(() => Promise.all(ports.map((port) => ask(port, ['PING']))));
  return {
    list: clientPorts.map((port) => `127.0.0.1:${port}`).join(','),
    masterPort: async () => Number(await field(first, 'port')),
    untilAllKnown: (replicas) =>
      eventually(async () => {
        for (const port of ports) {
          expect(await field(port, 'num-slaves')).toBe(String(replicas));
          expect(await field(port, 'num-other-sentinels')).toBe(String(count - 1));
        }
      }, 60_000),
    async stop() {
      const ended = processes.map((child) => new Promise((resolve) => child.once('exit', resolve)));
      for (const child of processes) child.kill('SIGKILL');
      await Promise.all(ended);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
