import { fork } from 'node:child_process';
import { z } from 'zod';
import { compiledFile } from '../support/compiled';
import { failure, type FuzzFailure } from './findings';
import { TARGET_NAMES, type TargetName } from './target';

/** Batches of a target; `to` is not included. */
export interface Batches {
  readonly target: TargetName;
  readonly from: number;
  readonly to: number;
}

const result = z.object({
  inputs: z.number(),
  longestMs: z.number(),
  grownBytes: z.number(),
  failures: z.array(failure),
});

const position = z.strictObject({ target: z.enum(TARGET_NAMES), batch: z.number() });

export interface DirectResult {
  readonly inputs: number;
  /** The longest CPU time of one input. */
  readonly longestMs: number;
  /** The largest heap growth of a child after its warm-up. */
  readonly grownBytes: number;
  readonly failures: readonly FuzzFailure[];
}

const CHILDREN = 2;
/** Far above what the largest input needs. A parser that multiplies its input exceeds it. */
const HEAP_MB = 512;

/** Passes the batches to the exported parsers, in two child processes. */
export async function runDirect(seed: number, work: readonly Batches[], signal: AbortSignal): Promise<DirectResult> {
  const parts = Array.from({ length: CHILDREN }, (_, child) => work.map((batches) => partOf(batches, child)));
  const results = await Promise.all(parts.map((part) => runChild(seed, part, signal)));
  return {
    inputs: results.reduce((sum, { inputs }) => sum + inputs, 0),
    longestMs: Math.max(...results.map(({ longestMs }) => longestMs)),
    grownBytes: Math.max(...results.map(({ grownBytes }) => grownBytes)),
    failures: results.flatMap(({ failures }) => failures),
  };
}

function partOf({ target, from, to }: Batches, child: number): Batches {
  const middle = (part: number) => from + Math.floor(((to - from) * part) / CHILDREN);
  return { target, from: middle(child), to: middle(child + 1) };
}

function runChild(seed: number, work: readonly Batches[], signal: AbortSignal): Promise<z.output<typeof result>> {
  const child = fork(compiledFile('test/fuzz/direct.ts'), [JSON.stringify({ seed, work })], {
    execArgv: ['--expose-gc', `--max-old-space-size=${HEAP_MB}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    signal,
  });
  let problems = '';
  let at: z.output<typeof position> = { target: work[0]?.target ?? 'webhook', batch: 0 };
  child.stderr?.on('data', (chunk: Buffer) => (problems += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.on('message', (message) => {
      const now = position.safeParse(message);
      if (now.success) at = now.data;
      else resolve(result.parse(message));
    });
    child.once('error', reject);
    child.once('exit', (code) => {
      const problem = `the parsers ended their process with ${code ?? 'a signal'}: ${problems.slice(-2000)}`;
      const crash: FuzzFailure = { ...at, index: null, way: 'direct', isBlock: false, problem };
      resolve({ inputs: 0, longestMs: 0, grownBytes: 0, failures: [crash] });
    });
  });
}
