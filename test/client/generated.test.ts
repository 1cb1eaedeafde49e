import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';
import { compiledFile } from '../support/compiled';

const run = promisify(execFile);

test('openapi.json and the client types are up to date with the contracts', async () => {
  const { stdout } = await run(process.execPath, [compiledFile('src/main/generate.ts'), '--check']);
  expect(stdout).toBe('openapi.json is up to date.\nsrc/client/paths.ts is up to date.\n');
});

test('the generated client types are marked as generated', async () => {
  expect(await readFile('src/client/paths.ts', 'utf8')).toMatch(/^\/\*\*\n \* .* Generated /);
});
