import { repeat } from '../platform/repeat';
import { listOldRecords } from '../store/old-records';
import type { Foundation } from './foundation';

/** A process of an earlier version may still run, and write, while this one does. */
const EVERY_MS = 600_000;

/** Keeps in the lists what earlier versions wrote without some of them. */
export function startListing({ redis, log, resources }: Foundation): void {
  const listing = repeat({
    name: 'lists',
    everyMs: EVERY_MS,
    log,
    work: async (signal) => {
      const listed = await listOldRecords(redis, signal);
      if (listed.tows + listed.tasks > 0) log.info('lists.completed', listed);
      return 'rest';
    },
  });
  resources.add('lists', listing, (opened) => opened.stop());
}
