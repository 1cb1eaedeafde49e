import type { Problem } from './problems';
import { jsonText, paint, textOf, type Line, type Screen } from './screen';

/** Says what went wrong and what to do next, on standard error: to people in lines, to machines as one JSON line. */
export function showProblem(problem: Problem, { screen, isJson }: { screen: Screen; isJson: boolean }): void {
  const { exitCode, httpStatus, code, message, details, next } = problem;
  if (isJson) {
    screen.problem(jsonText({ exit_code: exitCode, http_status: httpStatus, code, message, details, next }));
    return;
  }
  const print = (line: Line) => screen.problem(textOf(line, screen));
  const heading = paint('red', 'towhook:');
  if (message !== '') print([heading, ` ${message}`]);
  for (const { field, rule } of details) {
    print(message === '' ? [heading, ` ${field} ${rule}`] : `  ${field} ${rule}`);
  }
  if (next !== null) print(next);
}
