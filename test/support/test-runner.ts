import { createRequire } from 'node:module';
import { sep } from 'node:path';
import { createEmptyTestResult, type AssertionResult, type TestResult } from '@jest/test-result';
import type { Circus, Config } from '@jest/types';
import { expect } from 'expect';
import circus, { getState, resetState, run, setState } from 'jest-circus';
import { formatExecError, formatResultsErrors } from 'jest-message-util';
import type { ModuleMocker } from 'jest-mock';
import { compiledFile } from './compiled';
import { PROJECT } from './project';

/**
 * Runs a test file as plain Node modules in the worker process. A worker loads the test framework, packages and sources
 * once; what lies in `test/` is loaded again for each file. A source therefore must not keep state of its own between two
 * tests, and no test mocks a module. Jest's own runner loads all of it for each file, into a global object of its
 * own; that took a quarter of the time of all tests.
 */
export default async function runTestFile(
  globalConfig: Config.GlobalConfig,
  config: Config.ProjectConfig,
  { moduleMocker }: { readonly moduleMocker: ModuleMocker },
  _runtime: unknown,
  testPath: string,
): Promise<TestResult> {
  resetState();
  setState({
    ...getState(),
    testTimeout: globalConfig.testTimeout ?? config.testTimeout ?? getState().testTimeout,
    testNamePattern: globalConfig.testNamePattern === undefined ? null : new RegExp(globalConfig.testNamePattern, 'i'),
  });
  Object.assign(globalThis, circus, { expect, jest: jestObject(moduleMocker) });
  uncaught.clear();
  load(compiledFile(testPath));
  const { testResults, unhandledErrorsDetailed } = await run();
  return resultOf(testResults, [...unhandledErrorsDetailed, ...uncaught.values()]);

  function resultOf(results: Circus.TestResults, errors: readonly Error[]): TestResult {
    const testResults = results.map(assertionResult);
    const count = (status: AssertionResult['status']) =>
      testResults.filter((result) => result.status === status).length;
    const texts = errors.map((error) => formatExecError(error, config, globalConfig, testPath));
    const failed = formatResultsErrors(testResults, config, globalConfig, testPath);
    return {
      ...createEmptyTestResult(),
      failureMessage: failed === null && texts.length === 0 ? null : [failed ?? '', ...texts].join('\n\n'),
      numFailingTests: count('failed'),
      numPassingTests: count('passed'),
      numPendingTests: count('pending'),
      numTodoTests: count('todo'),
      testFilePath: testPath,
      testResults,
      ...(texts.length > 0 && { testExecError: { message: '', stack: texts.join('\n') } }),
    };
  }
}

/** The members of `jest` that tests use. */
function jestObject(mocker: ModuleMocker) {
  return {
    fn: mocker.fn.bind(mocker),
    spyOn: mocker.spyOn.bind(mocker),
    restoreAllMocks: mocker.restoreAllMocks.bind(mocker),
    setTimeout(testTimeout: number) {
      setState({ ...getState(), testTimeout });
    },
  };
}

function assertionResult(result: Circus.TestResult): AssertionResult {
  const [, ...titles] = result.testPath;
  return {
    ancestorTitles: titles.slice(0, -1),
    duration: result.duration ?? null,
    ...(result.failing !== undefined && { failing: result.failing }),
    failureDetails: result.errorsDetailed,
    failureMessages: [...result.errors],
    fullName: titles.join(' '),
    invocations: result.invocations,
    location: result.location ?? null,
    numPassingAsserts: result.numPassingAsserts,
    retryReasons: [],
    status: statusOf(result),
    title: titles.at(-1) ?? '',
  };
}

function statusOf({ status, errors }: Circus.TestResult): AssertionResult['status'] {
  if (status === 'skip') return 'pending';
  if (status === 'todo') return 'todo';
  return errors.length > 0 ? 'failed' : 'passed';
}

/** What was thrown outside of a test's own promise, as by a timer: it fails the file. Jest would end the worker. */
const uncaught = new Map<unknown, Error>();

for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.removeAllListeners(event).on(event, (reason: unknown, source: unknown) => {
    uncaught.set(
      event === 'uncaughtException' ? reason : source,
      reason instanceof Error ? reason : new Error(String(reason)),
    );
  });
}
process.on('rejectionHandled', (promise) => uncaught.delete(promise));

const TESTS = compiledFile('test') + sep;
/** What the worker needs itself stays loaded. */
const OF_WORKER = new Set(Object.keys(require.cache));

function load(file: string): void {
  for (const loaded of Object.keys(require.cache))
    if (loaded.startsWith(TESTS) && !OF_WORKER.has(loaded)) delete require.cache[loaded];
  // A parent that lives on would keep every test file as its child.
  createRequire(PROJECT)(file);
}
