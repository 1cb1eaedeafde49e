import { join } from 'node:path';
import type { MeasurementRow } from './measure/figures';
import { describeMachine, loadAverage, measuredCommit } from './measure/machine';
import { markdownOf } from './measure/table';
import { startBenchRedis } from './stage/redis';
import type { WorkloadTools, Workload } from './workloads/workload';

const PROJECT = join(__dirname, '..');

/** Measures workloads one after the other and returns the report as Markdown and the
 * runs that failed. `command` is how the run was started. */
export async function run(
  workloads: readonly Workload[],
  { tools, command, date }: { tools: WorkloadTools; command: string; date: string },
): Promise<{ markdown: string; failures: readonly string[] }> {
  const loadBefore = loadAverage();
  const commit = await measuredCommit(PROJECT);
  const redis = await startBenchRedis();
  await redis.stop();
  const rows: MeasurementRow[] = [];
  const sections: string[] = [];
  const failures: string[] = [];
  for (const workload of workloads) {
    const result = await workload.measure(tools);
    rows.push(...result.rows);
    sections.push(...result.sections);
    failures.push(...result.failures);
  }
  if (failures.length > 0) sections.push(['Runs that failed:', '', ...failures.map((line) => `- ${line}`)].join('\n'));
  const markdown = markdownOf({
    machine: describeMachine(redis.version, loadBefore),
    commit,
    date,
    command,
    rounds: tools.options.rounds,
    rows,
    sections,
  });
  return { markdown, failures };
}
