import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { useApp } from '../support/app';
import { compiledFile } from '../support/compiled';

const app = useApp({ role: 'console' });

/** Runs the program with a standard output that the system refuses to write, as on a full disk. */
async function runOnFullDisk(words: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const full = await open('/dev/full', 'w');
  const child = spawn(process.execPath, [compiledFile('src/main/towhook.ts'), ...words], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', full.fd, 'pipe'],
  });
  let problems = '';
  child.stderr?.on('data', (chunk: Buffer) => (problems += chunk.toString()));
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  await full.close();
  return { exitCode, problems };
}

const WHY = 'towhook: The command was carried out, but its output could not be written: ENOSPC.';

test.each([[[]], [['--json']]])(
  'towhook key create %j exits with 6 and names the command for a new secret when the output cannot be written',
  async (more) => {
    const environment = { TOWHOOK_URL: app.consoleUrl, TOWHOOK_API_KEY: app.apiKey };
    const words = ['key', 'create', '--name', 'yard', '--role', 'crew', ...more];
    const { exitCode, problems } = await runOnFullDisk(words, environment);
    expect(exitCode).toBe(6);
    expect(problems).toContain('but its output could not be written: ENOSPC.');
    expect(problems).toMatch(/For a new secret: towhook key rotate [\w-]+/);
  },
);

test('towhook names the idempotency key of a change whose output cannot be written', async () => {
  const environment = { TOWHOOK_URL: app.consoleUrl, TOWHOOK_API_KEY: app.apiKey };
  expect(await runOnFullDisk(['queue', 'pause', 'reports', '--idempotency-key', 'mine'], environment)).toEqual({
    exitCode: 6,
    problems: `${WHY}\nRepeat the command with --idempotency-key mine: the change is made once.\n`,
  });
});

test.each(['--help', '--version'])('towhook %s exits with 6 when the output cannot be written', async (word) => {
  expect(await runOnFullDisk([word])).toEqual({ exitCode: 6, problems: `${WHY}\n` });
});
