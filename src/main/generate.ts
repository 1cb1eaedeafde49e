import { readFileSync, writeFileSync } from 'node:fs';
import { openApiDocument } from '../operator/openapi';
import { printLine, printProblem } from '../platform/terminal';

/** Writes the files that are made from the contracts; with `--check` it only says whether they are up to date. */
const FILE = 'openapi.json';

const made = `${JSON.stringify(openApiDocument(), null, 2)}\n`;
if (process.argv.includes('--check')) {
  if (readFileSync(FILE, 'utf8') === made) {
    printLine(`${FILE} is up to date.`);
  } else {
    printProblem(`${FILE} is not what the contracts say; run: npm run generate`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(FILE, made);
  printLine(`${FILE} written.`);
}
