import { readFile, writeFile } from 'node:fs/promises';
import english from '../src/console/messages/en.json';
import { errorCode } from '../src/platform/errors';
import { printLine, printProblem } from '../src/platform/terminal';
import { cliPage } from './cli-page';
import { configurationPage } from './configuration-page';
import { formatted } from './formatted';
import { messageArguments } from './message-arguments';
import { openApiDocument } from './openapi/document';

/** Writes the files that are generated from code; with `--check` it only reports whether they are up to date. */
async function main(): Promise<void> {
  const files = {
    'openapi.json': `${JSON.stringify(openApiDocument(), null, 2)}\n`,
    'docs/configuration.md': configurationPage(),
    'docs/cli.md': await cliPage(),
    'src/console/messages/arguments.ts': await formatted('arguments.ts', messageArguments(english)),
  };
  for (const [file, made] of Object.entries(files)) {
    if ((await committed(file)) === made) {
      printLine(`${file} is up to date.`);
    } else if (!process.argv.includes('--check')) {
      await writeFile(file, made);
      printLine(`${file} written.`);
    } else {
      printProblem(`${file} is out of date; run: npm run generate`);
      process.exitCode = 1;
    }
  }
}

/** Null where there is none. */
async function committed(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

void main();
