import { stateSinceMs } from '../domain/overdue';
import type { Tow } from '../domain/tow';

/** What lists find a tow by besides its state: since when it is in it, ms, and its crew, '' for nobody (lua/shared/listing.lua). */
export function listedBy(tow: Tow): { readonly since: number | null; readonly crew: string } {
  return { since: stateSinceMs(tow), crew: tow.dispatch.assignment?.crew ?? '' };
}
