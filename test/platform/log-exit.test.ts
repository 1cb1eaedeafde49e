import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { compiledFile } from '../support/compiled';

/** More than a pipe holds (64 KiB), so that some lines still wait in the process when it ends. */
const LINES = 2000;

/** How the process ends, as code that runs in the same turn of the event loop as its last line. */
const ENDS = {
  'process.exit': 'process.exit(3)',
  'an uncaught exception': 'throw new Error("unexpected")',
  'a rejected promise': 'void Promise.reject(new Error("unexpected"))',
  'the end of its work': '',
  'a handled SIGTERM': 'process.once("SIGTERM", () => { line(); process.exit(3); }).kill(process.pid, "SIGTERM")',
  'an exit handler that logs': 'process.once("exit", () => line()).exit(3)',
};

/** Numbers of the lines that a process wrote to its pipe. */
async function linesOf(end: string): Promise<unknown[]> {
  const child = spawn(
    process.execPath,
    [
      '-e',
      `const { createLog } = require(${JSON.stringify(compiledFile('src/platform/log/log.ts'))});
       const log = createLog({ level: 'info', sensitiveNames: ['plate_number'] });
       let n = 0;
       const line = () => log.info('line.written', { n: n++, plate_number: 'marker', text: 'x'.repeat(200) });
       for (let i = 0; i < ${LINES}; i += 1) line();
       ${end}`,
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(child, 'close');
  const text = Buffer.concat(chunks).toString();
  expect(text).not.toContain('marker');
  return text
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
    .map((line) => (typeof line === 'object' && line !== null && 'n' in line ? line.n : line));
}

test.each(Object.entries(ENDS))(
  'a process that ends with %s has written every log line to its pipe',
  async (_, end) => {
    const numbers = await linesOf(end);
    const count = end.includes('line()') ? LINES + 1 : LINES;

    expect(numbers).toEqual(Array.from({ length: count }, (_item, index) => index));
  },
);
