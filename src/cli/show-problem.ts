import type { Problem } from './problems';
import { paint, type Screen } from './screen';

/** Says what went wrong and what to do next, on standard error: to people in lines, to machines as one JSON line. */
export function showProblem(problem: Problem, { screen, isJson }: { screen: Screen; isJson: boolean }): void {
  const { exitCode, httpStatus, code, message, details, next } = problem;
  if (isJson) {
    screen.problem(JSON.stringify({ exit_code: exitCode, http_status: httpStatus, code, message, details, next }));
    return;
  }
  const heading = paint(screen, 'red', 'towhook:');
  if (message !== '') screen.problem(`${heading} ${message}`);
  for (const { field, rule } of details) screen.problem(`${message === '' ? `${heading} ` : '  '}${field} ${rule}`);
  if (next !== null) screen.problem(next);
}
