import type { CommandOutput, Invocation } from './command';
import { EXIT, problemOf, type CommandProblem } from './problems';

interface FailedItem {
  readonly id: string;
  readonly problem: CommandProblem;
}

interface RepeatedAction<T> {
  readonly run: (id: string) => Promise<T>;
  readonly lines: (done: readonly T[]) => string[];
}

/**
 * Runs an action for each id, one after another. A refused item is reported and the others still run. Any other failure,
 * such as an unreachable console, ends the run. The output lists what was done, what failed and what was not tried.
 */
export async function runForEach<T>(
  call: Invocation,
  ids: readonly string[],
  action: RepeatedAction<T>,
): Promise<CommandOutput> {
  const [only] = ids;
  if (only !== undefined && ids.length === 1) {
    const done = await action.run(only);
    return { json: done, lines: action.lines([done]) };
  }
  const progress = call.terminal.progress('done', ids.length);
  const done: T[] = [];
  const failed: FailedItem[] = [];
  try {
    for (const [index, id] of ids.entries()) {
      // One at a time, so that a long list does not slow down other users of the API.
      // oxlint-disable-next-line eslint/no-await-in-loop
      const problem = await attempt(action.run(id), done);
      if (problem) failed.push({ id, problem });
      progress?.at(index + 1);
      if (problem && problem.exitCode !== EXIT.refused) break;
    }
  } finally {
    progress?.end();
  }
  const untried = ids.slice(done.length + failed.length);
  const problems = failed.map(({ id, problem: { code, message } }) => ({ id, code, message }));
  return {
    json: { items: done, not_done: problems, untried },
    lines: done.length === 0 ? [] : action.lines(done),
    problems: [
      ...problems.map(({ id, message }) => `${id} failed: ${message}`),
      ...untried.map((id) => `${id} was not tried.`),
    ],
    exitCode: failed.at(-1)?.problem.exitCode ?? EXIT.done,
  };
}

/** Adds the result to `done`, or returns the problem. */
async function attempt<T>(result: Promise<T>, done: T[]): Promise<CommandProblem | null> {
  try {
    done.push(await result);
    return null;
  } catch (error) {
    return problemOf(error, null);
  }
}
