import { readFile, writeFile } from 'node:fs/promises';
import { openApiDocument } from '../operator/openapi';
import { codeOf } from '../platform/system-error';
import { printLine, printProblem } from '../platform/terminal';
import { clientPaths } from './client-paths';

/** Writes the files that are made from the contracts; with `--check` it only says whether they are up to date. */
async function main(): Promise<void> {
  const document = openApiDocument();
  const files = {
    'openapi.json': `${JSON.stringify(document, null, 2)}\n`,
    'src/client/paths.ts': await clientPaths(document),
  };
  for (const [file, made] of Object.entries(files)) {
    if (!process.argv.includes('--check')) {
      await writeFile(file, made);
      printLine(`${file} written.`);
    } else if ((await committed(file)) === made) {
      printLine(`${file} is up to date.`);
    } else {
      printProblem(`${file} is not what the contracts say; run: npm run generate`);
      process.exitCode = 1;
    }
  }
}

/** Null where there is none. */
async function committed(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

void main();
