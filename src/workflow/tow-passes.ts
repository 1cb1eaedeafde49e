import type { TowRecord } from '../contracts/records';
import { overdueOf, owedSinceMs } from '../domain/overdue';
import type { TowFilter } from './list-port';

/** Whether a tow, as its record stands, passes a filter; the search is left out, since only the words it is found by tell. */
export function towPasses({ tow, reports, tasks, readAtMs }: TowRecord, filter: TowFilter): boolean {
  const { states, attention, unsent, overdueAfter, crew } = filter;
  return (
    (states.length === 0 || states.includes(tow.state)) &&
    (!attention || tasks.length > 0) &&
    (!unsent || owedSinceMs(reports) !== null) &&
    (overdueAfter === null || overdueOf({ tow, reports }, overdueAfter, readAtMs).length > 0) &&
    (crew === null || (tow.dispatch.assignment?.crew ?? '') === crew)
  );
}
