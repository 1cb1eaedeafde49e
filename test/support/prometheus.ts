import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { z } from 'zod';
import { eventually } from './eventually';
import { lastingPort } from './lasting-port';

/** A Prometheus server of a test, from the Debian package `prometheus`. */
export interface Prometheus {
  /** The value of an expression with one result; null without a result. */
  value(expression: string): Promise<number | null>;
  /** The names of the alerts that fire now. */
  firing(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

const samples = z.object({
  data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }),
});
const alertList = z.object({
  data: z.object({ alerts: z.array(z.object({ state: z.string(), labels: z.object({ alertname: z.string() }) })) }),
});

/** Runs promtool and returns what it prints. Rejects with its output when it finds a fault. */
export async function promtool(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('promtool', args);
  return stdout;
}

/** Starts a server that scrapes and evaluates every second. `rules` is the text of a file of rules. */
export async function startPrometheus(options: {
  readonly rules: string;
  /** `host:port` of each target. */
  readonly targets: readonly string[];
}): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'towhook-prometheus-'));
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['alerts.yml'],
    scrape_configs: [{ job_name: 'towhook', static_configs: [{ targets: options.targets }] }],
  };
  await writeFile(join(folder, 'alerts.yml'), options.rules);
  await writeFile(join(folder, 'prometheus.yml'), stringify(config));
  await mkdir(join(folder, 'data'));
  const address = `127.0.0.1:${await lastingPort()}`;
  const server = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
    ],
    { stdio: 'ignore' },
  );
  // Without the program, the first request fails and names the address; this names the program.
  const failed = once(server, 'error').then(([error]: unknown[]) => error);
  const ask = async (path: string): Promise<unknown> => {
    const response = await Promise.race([fetch(`http://${address}${path}`), failed]);
    if (!(response instanceof Response)) throw response;
    if (!response.ok) throw new Error(`Prometheus answered ${path} with ${response.status}`);
    return response.json();
  };
  await eventually(() => ask('/api/v1/alerts'));
  return {
    async value(expression) {
      const { data } = samples.parse(await ask(`/api/v1/query?query=${encodeURIComponent(expression)}`));
      const text = data.result[0]?.value[1];
      return text === undefined ? null : Number(text);
    },
    async firing() {
      const { data } = alertList.parse(await ask('/api/v1/alerts'));
      return data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
    },
    async stop() {
      const exited = once(server, 'exit');
      server.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
