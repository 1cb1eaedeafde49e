import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { z } from 'zod';
import { EXIT } from '../../src/cli/exit-codes';
import { ROUTES } from '../../src/contracts/operator-routes';
import { BIN, run, runProgram } from './command';
import { deadAddress } from './fake-service';

/** The program as it is called by a person; no console runs. */
const nobody = { environment: {} };

/** Every command there is, by walking the help. */
async function commands(words: readonly string[] = []): Promise<string[][]> {
  const { out } = await run([...words, '--help'], { url: 'http://127.0.0.1', apiKey: 'any' });
  const [, listed = ''] = /^Commands:\n((?: .*\n)+)/m.exec(`${out}\n`) ?? [];
  const names = [...listed.matchAll(/^ {2}(\w+)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help');
  if (names.length === 0) return [[...words]];
  return (await Promise.all(names.map((name) => commands([...words, name])))).flat();
}

test('the installed program runs from any folder and --help shows usage, variables, exit codes and examples', async () => {
  const said = await runProgram(['--help'], { ...nobody, folder: tmpdir(), program: BIN });
  expect([said.exitCode, said.problems]).toEqual([0, '']);
  for (const word of ['Usage: towhook', 'TOWHOOK_URL', 'TOWHOOK_API_KEY', 'Exit codes:', 'Examples:']) {
    expect(said.out).toContain(word);
  }
});

test('package.json names the program', () => {
  const described: unknown = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(described).toMatchObject({ bin: { towhook: 'src/main/towhook.cjs' } });
});

test('its version is that of the package', async () => {
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync('package.json', 'utf8')));
  const said = await runProgram(['--version'], nobody);
  expect(said).toMatchObject({ exitCode: 0, out: `${version}\n`, problems: '' });
});

test('every command tells what it does, takes --json and gives an example of itself', async () => {
  const all = await commands();
  expect(all.length).toBeGreaterThan(40);
  for (const words of all) {
    const { exitCode, out } = await run([...words, '--help'], { url: 'http://127.0.0.1', apiKey: 'any' });
    expect(exitCode).toBe(0);
    expect(out).toContain('--json');
    expect(out).toContain(`Examples:\n  $ towhook ${words.join(' ')}`);
  }
});

test('everything that the command line must offer is there', async () => {
  const all = (await commands()).map((words) => words.join(' '));
  expect(all).toEqual(
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
  // What the API can do, the command line can do.
  expect(all.length).toBeGreaterThanOrEqual(Object.keys(ROUTES).length);
});

test('no command takes a key as an argument', async () => {
  for (const words of await commands()) {
    const { out } = await run([...words, '--help'], { url: 'http://127.0.0.1', apiKey: 'any' });
    expect(out).not.toMatch(/--api-key|--token|--key\b/);
  }
});

test('the exit codes in the help are those of the program', async () => {
  const { out } = await run(['--help'], { url: 'http://127.0.0.1', apiKey: 'any' });
  const [, section = ''] = /Exit codes:\n([\s\S]*?)\n\n/.exec(out) ?? [];
  expect([...section.matchAll(/^ {2}(\d)/gm)].map((match) => Number(match[1]))).toEqual(Object.values(EXIT));
});

test('the bootstrap key serves where no other is set, and the console of this machine where no address is', async () => {
  const port = new URL(await deadAddress()).port;
  const withKey = await runProgram(['queue', 'stats'], {
    environment: { CONSOLE_PORT: port, BOOTSTRAP_API_KEY: 'any' },
  });
  const without = await runProgram(['queue', 'stats'], { environment: { CONSOLE_PORT: port } });
  expect([withKey.exitCode, without.exitCode]).toEqual([EXIT.unavailable, EXIT.notAuthenticated]);
});

test('a wrong setting is named, and its value is not repeated', async () => {
  const said = await runProgram(['queue', 'stats'], { environment: { TOWHOOK_URL: 'ftp://marker.example' } });
  expect(said.exitCode).toBe(EXIT.wrongUse);
  expect(said.problems).toContain('TOWHOOK_URL must be an http(s) address');
  expect(said.problems).not.toContain('marker');
});

test('what is wrong elsewhere in the environment stops no command', async () => {
  const environment = { SERVICE_TIMEOUT_MS: 'soon', TOWHOOK_URL: await deadAddress(), TOWHOOK_API_KEY: 'any' };
  expect((await runProgram(['queue', 'stats'], { environment })).exitCode).toBe(EXIT.unavailable);
});
