import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

/**
 * `npm run verify` checks format, lint, types and generated files, then runs all tests but the nightly ones. Its last
 * line is `N passed, M failed`: all tests, and one failure for each check that did not pass, which the line before it
 * names. Exit code 0 when nothing failed. `npm run check` does the same with few tests: those of the architecture and of
 * the folders that are given.
 */

const CHECKS = ['format:check', 'generate:check', 'typecheck', 'lint'];
/** Normal and slow tests in one run: what waits and what computes share the processors. */
const ALL_TESTS = 'test:all';
/** Without the slow ones. */
const TESTS = 'test';
/** Files and folders of the tests to run; none: all. */
const only = process.argv.slice(2);

/** The part of jest's JSON report that is summed up. */
const jestReport = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  /** Files that failed before their first test. */
  numRuntimeErrorTestSuites: z.number(),
});

interface Sum {
  readonly passed: number;
  readonly failed: number;
}

async function verify(): Promise<number> {
  const sums: Sum[] = [];
  const failedChecks: string[] = [];
  for (const script of CHECKS) {
    const exitCode = await runScript(script);
    if (exitCode !== 0) failedChecks.push(script);
  }
  sums.push({ passed: 0, failed: failedChecks.length });
  sums.push(await (only.length === 0 ? runTests(ALL_TESTS) : runTests(TESTS, ...only)));
  if (failedChecks.length > 0) process.stdout.write(`failed: npm run ${failedChecks.join(', npm run ')}\n`);
  const total = (which: keyof Sum) => sums.reduce((sum, each) => sum + each[which], 0);
  process.stdout.write(`${total('passed')} passed, ${total('failed')} failed\n`);
  return total('failed') === 0 ? 0 : 1;
}

/** Runs jest; a run that ends without a report, or with a fault that its report does not count, is one failure. */
async function runTests(script: string, ...paths: string[]): Promise<Sum> {
  const folder = mkdtempSync(join(tmpdir(), 'towhook-verify-'));
  const file = join(folder, 'report.json');
  try {
    const exitCode = await runScript(script, '--', '--json', '--outputFile', file, ...paths);
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = readReport(file);
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    return { passed: numPassedTests, failed: exitCode === 0 ? failed : Math.max(1, failed) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readReport(file: string): z.infer<typeof jestReport> {
  try {
    return jestReport.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, numRuntimeErrorTestSuites: 1 };
  }
}

/** Runs a script of package.json with its output shown; resolves with the exit code, 1 when a signal ended it. */
function runScript(script: string, ...parameters: string[]): Promise<number> {
  process.stdout.write(`==> npm run ${script}\n`);
  const child = spawn('npm', ['run', '--silent', script, ...parameters], { stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

async function main(): Promise<void> {
  process.exitCode = await verify();
}

void main();
