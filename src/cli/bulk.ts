import { problemOf, type Problem } from './problems';
import { EXIT } from './exit-codes';
import type { Call, Shown } from './verb';

/** One of several things that was not done, and why. */
interface NotDone {
  readonly id: string;
  readonly problem: Problem;
}

interface Bulk<T> {
  readonly what: string;
  readonly act: (id: string) => Promise<T>;
  readonly lines: (done: readonly T[]) => string[];
}

/**
 * Does the same to several things, one after the other, with a bar where a person watches. One that is refused is told
 * and keeps none of the others from being done; what makes all of them fail, such as a console that is away, ends it.
 * What was done is shown in any case.
 */
export async function shownEach<T>(call: Call, ids: readonly string[], bulk: Bulk<T>): Promise<Shown> {
  const [only] = ids;
  if (only !== undefined && ids.length === 1) {
    const done = await bulk.act(only);
    return { json: done, lines: bulk.lines([done]) };
  }
  const progress = call.screen.progress(bulk.what, ids.length);
  const done: T[] = [];
  const notDone: NotDone[] = [];
  try {
    for (const [index, id] of ids.entries()) {
      // One after the other: whoever asks for a thousand must not stop the others.
      // oxlint-disable-next-line eslint/no-await-in-loop
      const problem = await tried(bulk.act(id), done);
      if (problem) notDone.push({ id, problem });
      progress?.at(index + 1);
      if (problem && problem.exitCode !== EXIT.refused) break;
    }
  } finally {
    progress?.end();
  }
  const untried = ids.slice(done.length + notDone.length);
  const problems = notDone.map(({ id, problem: { code, message } }) => ({ id, code, message }));
  return {
    json: { items: done, not_done: problems, untried },
    lines: [
      ...bulk.lines(done),
      ...problems.map(({ id, message }) => `${id} was not done: ${message}`),
      ...untried.map((id) => `${id} was not tried.`),
    ],
    exitCode: notDone.at(-1)?.problem.exitCode ?? EXIT.done,
  };
}

/** Why it was not done; null when it was. */
async function tried<T>(act: Promise<T>, done: T[]): Promise<Problem | null> {
  try {
    done.push(await act);
    return null;
  } catch (error) {
    return problemOf(error, null);
  }
}
