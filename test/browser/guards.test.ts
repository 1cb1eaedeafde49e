import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

const RUN_TIMEOUT_MS = 25_000;
const report = z.object({
  testResults: z.tuple([
    z.object({
      assertionResults: z.array(
        z.object({ title: z.string(), status: z.string(), failureMessages: z.array(z.string()) }),
      ),
    }),
  ]),
});

/** What became of each test of the fixture: null when it passed. */
let outcomes: ReadonlyMap<string, string | null> = new Map();

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'towhook-guards-'));
  const file = join(folder, 'report.json');
  const jest = join(__dirname, '..', '..', 'node_modules', 'jest', 'bin', 'jest.js');
  const flags = ['--testMatch', '**/test/browser/faulty.fixture.ts', '--runInBand', '--json', '--outputFile', file];
  try {
    // It ends with a failure, as it must; what counts is the report.
    await new Promise((resolve) => {
      execFile(process.execPath, [jest, ...flags], { timeout: RUN_TIMEOUT_MS, killSignal: 'SIGKILL' }, resolve);
    });
    const { testResults } = report.parse(JSON.parse(await readFile(file, 'utf8')));
    outcomes = new Map(
      testResults[0].assertionResults.map(({ title, status, failureMessages }) => [
        title,
        status === 'passed' ? null : failureMessages.join('\n'),
      ]),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 2 * RUN_TIMEOUT_MS);

test.each([
  ['/says-error', 'console error: it broke'],
  ['/says-warning', 'console warning: it may break'],
  ['/throws', 'page error: Error: thrown in the page'],
  ['/rejects', 'page error: Error: rejected in the page'],
  ['/inline-style', 'Content-Security-Policy violation: Applying inline style'],
  ['/inline-script', 'Content-Security-Policy violation: Executing inline script'],
  ['/foreign-picture', 'Content-Security-Policy violation: Loading the image'],
  ['without JavaScript', 'Content-Security-Policy violation: Applying inline style'],
  ['/lost-picture', '/lost.png was answered 404'],
  ['/missing', '/missing was answered 404'],
  ['/cut', '/cut.png failed: net::ERR_EMPTY_RESPONSE'],
  ['a link outside', 'a request outside: GET http://example.com/'],
  ['an address outside by number', 'GET http://192.0.2.1/ failed: net::ERR_NAME_NOT_RESOLVED'],
  ['/asks', 'a dialog (confirm) opened: really?'],
  ['a popup', 'console error: it broke'],
  ['announced in vain', 'announced and did not happen: /missing 404'],
])('a test of %s fails for: %s', (title, fault) => {
  expect(outcomes.get(title)).toContain(fault);
});

test.each(['/clean', '/live', 'leaving a live page', 'announced'])('a test of %s passes', (title) => {
  expect(outcomes.get(title)).toBeNull();
});
