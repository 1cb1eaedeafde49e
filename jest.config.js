// Loads the global set-up, which compiles the project for the rest.
require('tsx/cjs');

/**
 * What `npm test` and the scripts `test:slow`, `test:all` and `test:nightly` run. `test:all` leaves out the nightly files.
 *
 * @type {Record<string, string[]>}
 */
const TESTS = {
  normal: ['<rootDir>/test/**/*.test.ts?(x)', '!**/*.slow.test.ts', '!**/*.nightly.test.ts'],
  slow: ['<rootDir>/test/**/*.slow.test.ts'],
  all: ['<rootDir>/test/**/*.test.ts?(x)', '!**/*.nightly.test.ts'],
  nightly: ['<rootDir>/test/**/*.nightly.test.ts'],
};

module.exports = {
  testEnvironment: '<rootDir>/test/support/environment.js',
  testRunner: '<rootDir>/test/support/runner.js',
  testMatch: TESTS[process.env.TESTS ?? 'normal'],
  testTimeout: 120_000,
  // Twice as many as CI has processors, because tests also wait.
  maxWorkers: 4,
  // Above what a worker keeps between files (test/support/worker-environment.ts), and so far below the limit of the heap
  // in package.json that the largest file fits in between.
  workerIdleMemoryLimit: '550MB',
  testSequencer: '<rootDir>/test/support/sequencer.js',
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/data/', '<rootDir>/.cache/'],
  transform: {},
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
};
