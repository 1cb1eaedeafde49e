import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { z } from 'zod';
import { EXIT } from '../../src/cli/problems';
import { towingReference } from '../../src/domain/stored';
import { ROUTES } from '../../src/contracts/operator-routes';
import { taskIdOf } from '../../src/domain/outbox/outbox-record';
import { invoiceMismatchTask } from '../../src/domain/ops/tasks';
import { BIN, run, runProgram, runWith } from './command';
import { DEAD_ADDRESS, DEAD_PORT } from './fake-service';

const noConsole = { url: 'http://127.0.0.1', apiKey: 'any' };

let all: readonly string[][];
beforeAll(async () => {
  all = await commands();
});

/** Lists every command by following the help texts. */
async function commands(words: readonly string[] = []): Promise<string[][]> {
  const { out } = await run([...words, '--help'], noConsole);
  const [, listed = ''] = /^Commands:\n((?: .*\n)+)/m.exec(`${out}\n`) ?? [];
  const names = [...listed.matchAll(/^ {2}([\w-]+)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help');
  if (names.length === 0) return [[...words]];
  return (await Promise.all(names.map((name) => commands([...words, name])))).flat();
}

test('the installed program runs from any folder and --help shows usage, variables, exit codes and examples', async () => {
  const result = await runProgram(['--help'], { environment: {}, folder: tmpdir(), program: BIN });
  expect([result.exitCode, result.problems]).toEqual([0, '']);
  for (const word of ['Usage: towhook', 'TOWHOOK_URL', 'TOWHOOK_API_KEY', 'Exit codes:', 'Examples:']) {
    expect(result.out).toContain(word);
  }
});

test('towhook demo --help shows its options and starts nothing', async () => {
  const result = await runProgram(['demo', '--help'], { environment: {}, folder: tmpdir(), program: BIN });
  expect([result.exitCode, result.problems]).toEqual([0, '']);
  for (const word of ['Usage: towhook demo', '--tows', '--exit', '--help']) expect(result.out).toContain(word);
  expect(result.out).not.toContain('tows from the service');
});

test('package.json names the towhook program as its bin', () => {
  const described: unknown = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(described).toMatchObject({ bin: { towhook: 'dist/src/main/towhook.cjs' } });
});

test('towhook --version prints the version of the package', async () => {
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync('package.json', 'utf8')));
  const result = await runProgram(['--version'], { environment: {} });
  expect(result).toMatchObject({ exitCode: 0, out: `${version}\n`, problems: '' });
});

test('the help of every towhook command shows --json and an example of the command', async () => {
  expect(all.length).toBeGreaterThan(40);
  for (const words of all) {
    const { exitCode, out } = await run([...words, '--help'], noConsole);
    expect(exitCode).toBe(0);
    expect(out).toContain('--json');
    expect(out).toContain(`Examples:\n  $ towhook ${words.join(' ')}`);
  }
});

test('the towhook command line offers every required command and at least one per API route', () => {
  expect(all.map((words) => words.join(' '))).toEqual(
    expect.arrayContaining([
      ...['list', 'show', 'started', 'detained', 'canceled', 'invoice', 'payment', 'released'].map((v) => `tow ${v}`),
      ...['create', 'show', 'list'].map((verb) => `violation ${verb}`),
      'capacity',
      'ticket check',
      'task list',
      'task resolve',
      'doctor',
      ...['list', 'show', 'replay'].map((verb) => `delivery ${verb}`),
      ...['stats', 'pause', 'resume'].map((verb) => `queue ${verb}`),
      ...['create', 'list', 'rotate', 'revoke'].map((verb) => `key ${verb}`),
    ]),
  );
  expect(all.length).toBeGreaterThanOrEqual(Object.keys(ROUTES).length);
});

test('the example of towhook task resolve names a task by its whole id', async () => {
  const { out } = await run(['task', 'resolve', '--help'], noConsole);
  const tow = { kind: 'tow', ref: towingReference.parse('TW-20261120-ABC123') } as const;
  expect(out).toContain(`$ towhook task resolve ${taskIdOf(tow, invoiceMismatchTask([]).subject)}`);
});

test('no towhook command takes an API key as an argument', async () => {
  for (const words of all) {
    const { out } = await run([...words, '--help'], noConsole);
    expect(out).not.toMatch(/--api-key|--token|--key\b/);
  }
});

test('towhook --help lists exactly the exit codes of the program', async () => {
  const { out } = await run(['--help'], noConsole);
  const [, section = ''] = /Exit codes:\n([\s\S]*?)\n\n/.exec(out) ?? [];
  expect([...section.matchAll(/^ {2}(\d)/gm)].map((match) => Number(match[1]))).toEqual(Object.values(EXIT));
});

test('towhook uses BOOTSTRAP_API_KEY and the console of this machine by default', async () => {
  const port = String(DEAD_PORT);
  const withKey = await runWith(['queue', 'stats'], { CONSOLE_PORT: port, BOOTSTRAP_API_KEY: 'any' });
  const without = await runWith(['queue', 'stats'], { CONSOLE_PORT: port });
  expect([withKey.exitCode, without.exitCode]).toEqual([EXIT.unavailable, EXIT.notAuthenticated]);
});

test('towhook run as a program names an invalid setting and does not print its value', async () => {
  const result = await runProgram(['queue', 'stats'], { environment: { TOWHOOK_URL: 'ftp://marker.example' } });
  expect(result.exitCode).toBe(EXIT.wrongUse);
  expect(result.problems).toContain('TOWHOOK_URL must be an http(s) address');
  expect(result.problems).not.toContain('marker');
});

test('towhook run as a program ignores invalid variables that the command does not use', async () => {
  const environment = { SERVICE_TIMEOUT_MS: 'soon', TOWHOOK_URL: DEAD_ADDRESS, TOWHOOK_API_KEY: 'any' };
  expect((await runProgram(['queue', 'stats'], { environment })).exitCode).toBe(EXIT.unavailable);
});
