import { join } from 'node:path';
import type { Row } from './measure/figures';
import { describeMachine, loadAverage, measuredCommit } from './measure/machine';
import { markdownOf } from './measure/table';
import { startBenchRedis } from './stage/redis';
import type { Tools, Workload } from './workloads/workload';

const PROJECT = join(__dirname, '..');

/** Measures workloads one after the other and returns the report as Markdown. `command` is how the run was started. */
export async function run(
  workloads: readonly Workload[],
  { tools, command, date }: { tools: Tools; command: string; date: string },
): Promise<string> {
  const loadBefore = loadAverage();
  const redis = await startBenchRedis();
  await redis.stop();
  const rows: Row[] = [];
  const sections: string[] = [];
  for (const workload of workloads) {
    const result = await workload.measure(tools);
    rows.push(...result.rows);
    sections.push(...result.sections);
  }
  return markdownOf({
    machine: describeMachine(redis.version, loadBefore),
    commit: await measuredCommit(PROJECT),
    date,
    command,
    rounds: tools.options.rounds,
    rows,
    sections,
  });
}
