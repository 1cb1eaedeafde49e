import { chromium } from './chromium';

/** Makes sure that there is a browser before the tests start: `node --require tsx/cjs test/support/browser/install.ts`. */
chromium().then(
  (path) => process.stdout.write(`${path}\n`),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  },
);
