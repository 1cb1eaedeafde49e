// Tests are compiled with swc and without a type check; `npm run typecheck` checks the types. Sources are compiled by
// global set-up (test/support/runtime.js).
const shared = { module: { type: 'commonjs' }, sourceMaps: 'inline' };
const typescript = { ...shared, jsc: { parser: { syntax: 'typescript' }, target: 'es2023' } };
const tsx = {
  ...shared,
  jsc: {
    parser: { syntax: 'typescript', tsx: true },
    target: 'es2023',
    transform: { react: { runtime: 'automatic', importSource: 'hono/jsx' } },
  },
};

/** What `npm test` and the scripts `test:slow`, `test:all` and `test:nightly` run. `test:all` leaves out the nightly files. */
const TESTS = {
  normal: ['<rootDir>/test/**/*.test.ts?(x)', '!**/*.slow.test.ts', '!**/*.nightly.test.ts'],
  slow: ['<rootDir>/test/**/*.slow.test.ts'],
  all: ['<rootDir>/test/**/*.test.ts?(x)', '!**/*.nightly.test.ts'],
  nightly: ['<rootDir>/test/**/*.nightly.test.ts'],
};

module.exports = {
  testEnvironment: '<rootDir>/test/support/environment.ts',
  runtime: '<rootDir>/test/support/runtime.js',
  testMatch: TESTS[process.env.TESTS ?? 'normal'],
  testTimeout: 120_000,
  // Twice as many as CI has processors, because tests also wait.
  maxWorkers: 4,
  // Above what a worker keeps between files (test/support/environment.ts), and so far below the limit of the heap in
  // package.json that the largest file fits in between.
  workerIdleMemoryLimit: '550MB',
  testSequencer: '<rootDir>/test/support/sequencer.js',
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/data/', '<rootDir>/.cache/'],
  transform: { '^.+\\.ts$': ['@swc/jest', typescript], '^.+\\.tsx$': ['@swc/jest', tsx] },
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
};
