import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { printLine } from '../../src/platform/terminal';
import { BLOCK_MS, type FuzzFailure } from './findings';
import type { FuzzFindings } from './run';
import { brokenBoundsOf, DIRECT_HEAP_BYTES_MAX, PRODUCT_HEAP_BYTES_MAX } from './verdict';
import { PROJECT } from '../support/project';

const FAILURES_SHOWN = 20;

/** Prints the findings and stores failing inputs. Returns true when every requirement is met. */
export function printSummary(findings: FuzzFindings, seed: number): boolean {
  const { direct, http, failures, parts } = findings;
  const bounds = brokenBoundsOf(findings);
  const line = (what: string, value: string | number) => printLine(`  ${what.padEnd(34)} ${value}`);
  printLine();
  for (const { target, direct: parsed, http: sent } of parts) {
    const broken = failures.filter((failure) => failure.target === target).length;
    line(target, `${parsed} to the parsers, ${sent} over HTTP, ${broken} failing`);
  }
  line('inputs in all', `${direct.inputs + http.inputs} in ${findings.seconds.toFixed(1)} s`);
  line('longest in a parser', `${direct.longestMs.toFixed(1)} ms of at most ${BLOCK_MS}`);
  line('longest in the event loop', `${http.longestMs.toFixed(1)} ms of at most ${BLOCK_MS}`);
  line('batches replayed for a block', http.replayedBatches);
  line('answered well only when repeated', http.answeredLate);
  line('heap of the parsers grew', `${mib(direct.grownBytes)} of at most ${mib(DIRECT_HEAP_BYTES_MAX)}`);
  const { memory } = http;
  line('heap of the product grew', `${mib(memory.heapGrownBytes)} of at most ${mib(PRODUCT_HEAP_BYTES_MAX)}`);
  line('memory of the product grew', mib(memory.rssGrownBytes));
  line('Redis grew', `${mib(memory.redisGrownBytes)} of at most ${mib(memory.redisAllowedBytes)} for what it took in`);
  line('refused calls that are kept', memory.refused);
  printLine();
  for (const bound of bounds) printLine(`  ! ${bound}`);
  for (const failure of failures.slice(0, FAILURES_SHOWN)) printLine(`  ! ${shown(failure, seed)}`);
  for (const failure of failures.slice(FAILURES_SHOWN)) keep(failure, seed);
  if (failures.length > FAILURES_SHOWN) printLine(`  ! and ${failures.length - FAILURES_SHOWN} more`);
  const holds = bounds.length + failures.length === 0;
  printLine(holds ? '  PASSED' : '  FAILED');
  return holds;
}

function shown(failure: FuzzFailure, seed: number): string {
  const { target, batch, way, problem } = failure;
  return `${target}, batch ${batch}, ${way}: ${problem.split('\n', 1)[0] ?? ''}\n      ${keep(failure, seed)}`;
}

/** Stores a failing input; returns the name of its file. */
function keep(failure: FuzzFailure, seed: number): string {
  const folder = join(PROJECT, '.cache', 'fuzz');
  mkdirSync(folder, { recursive: true });
  const { target, batch, index, way } = failure;
  const file = join(folder, `${seed}-${target}-${batch}-${index ?? 'batch'}-${way}.json`);
  const repeat = `npm run fuzz -- --seed ${seed} --target ${target} --batch ${batch}`;
  writeFileSync(file, `${JSON.stringify({ repeat, seed, ...failure }, null, 2)}\n`);
  return relative(PROJECT, file);
}

function mib(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
