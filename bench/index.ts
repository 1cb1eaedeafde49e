import { writeFile } from 'node:fs/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { format } from 'oxfmt';
import { systemClock } from '../src/platform/clock';
import { printLine, printProblem } from '../src/platform/terminal';
import { compile } from '../test/support/compiled';
import { run } from './run';
import { WORKLOADS } from './workloads';
import type { Options, Workload } from './workloads/workload';

/** `npm run bench`; README.md describes it. */

async function main(): Promise<void> {
  const program = new Command('npm run bench --')
    .description('Measures towhook beside simpler programs and prints a Markdown table.')
    .argument('[workloads...]', `${names(WORKLOADS)}; by default ${names(WORKLOADS.filter(isStandard))}`, parseName, [])
    .addOption(count('--rounds <n>', 'how often each contender runs', 3))
    .addOption(count('--tows <n>', 'tows of lifecycle, facts and scale', 3000))
    .addOption(count('--seconds <n>', 'how long accept, latency and the idle processes are measured', 5))
    .addOption(count('--connections <n>', 'connections of the load generator', 64))
    .addOption(count('--service-latency-ms <n>', 'how long the stub of the service takes to answer', 0))
    .addOption(count('--tows-per-second <n>', 'rate of the workload latency', 50))
    .addOption(count('--backlog-tows <n>', 'tows of the workload backlog', 20_000))
    .addOption(count('--open-tows <n>', 'open tows of the workload board', 10_000))
    .option('--stored <n,n,…>', 'stored tows of the workload history', parseCounts, [1000, 100_000])
    .option('--output <file>', 'write the Markdown to a file too')
    .action(async (workloads: Workload[], options: Options & { output?: string }) => {
      await measure(workloads, options);
    });
  await program.parseAsync();
}

async function measure(chosen: readonly Workload[], options: Options & { output?: string }): Promise<void> {
  const progress = (text: string) =>
    printProblem(`${new Date(systemClock.nowMs()).toISOString().slice(11, 19)} ${text}`);
  progress('compiling');
  await compile();
  const { markdown, failures } = await run(chosen.length > 0 ? chosen : WORKLOADS.filter(isStandard), {
    tools: { options, progress },
    command: ['npm run bench', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(' '),
    date: new Date(systemClock.nowMs()).toISOString().slice(0, 10),
  });
  const { code: formatted } = await format('table.md', markdown);
  printLine(formatted);
  if (options.output !== undefined) await writeFile(options.output, formatted);
  if (failures.length > 0) process.exitCode = 1;
}

function isStandard(workload: Workload): boolean {
  return workload.isStandard;
}

function names(workloads: readonly Workload[]): string {
  return workloads.map(({ name }) => name).join(', ');
}

function parseName(text: string, previous: Workload[]): Workload[] {
  const workload = WORKLOADS.find(({ name }) => name === text);
  if (workload === undefined) throw new InvalidArgumentError(`It must be one of ${names(WORKLOADS)}.`);
  return [...previous, workload];
}

function count(flags: string, description: string, byDefault: number): Option {
  return new Option(flags, description).default(byDefault).argParser(parseCount);
}

function parseCount(text: string): number {
  if (!/^\d{1,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

function parseCounts(text: string): number[] {
  return text.split(',').map(parseCount);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
main().catch((error: unknown) => {
  printProblem(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = 1;
});
