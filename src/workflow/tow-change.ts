import type { Tow } from '../domain/tow';
import type { TowChange } from './ports';

/** A change that changes nothing, to be spread with what does. */
export function noChange(tow: Tow): TowChange {
  return {
    tow,
    reports: [],
    withdraw: { ids: [], reason: '' },
    timeline: [],
    openTasks: [],
    closeTasks: [],
    searchTerms: [],
    delivery: null,
    audit: null,
  };
}
