import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';

const run = promisify(execFile);

test('openapi.json and the types of the client are what the contracts say', async () => {
  const { stdout } = await run(process.execPath, ['--require', 'tsx/cjs', 'src/main/generate.ts', '--check']);
  expect(stdout).toBe('openapi.json is up to date.\nsrc/client/paths.ts is up to date.\n');
});

test('the generated file says that it is one', async () => {
  expect(await readFile('src/client/paths.ts', 'utf8')).toMatch(/^\/\*\*\n \* .* Generated /);
});
