import { promisify } from 'node:util';
import { execFile } from 'node:child_process';
import { compiledFile } from '../support/compiled';

const run = promisify(execFile);

test('every generated file is up to date', async () => {
  const { stdout } = await run(process.execPath, [compiledFile('tools/generate.ts'), '--check']);
  expect(stdout).toMatch(/^([^ ]+ is up to date\.\n)+$/);
});
