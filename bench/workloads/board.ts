import { pause } from '../../src/platform/timers';
import { visitConsole } from '../history/console-visitor';
import { startLoad } from '../stage/load';
import type { BenchWorld } from '../stage/world';
import type { Measurement, Sample } from '../measure/figures';
import { makeTows } from './owed-tows';
import { compare, type Options, type Workload } from './workload';

/** Connections while facts are recorded; no figure depends on it. */
const CONNECTIONS = 32;
/** Everything is overdue when the pages are measured. */
const OVERDUE_AFTER_MS = 60_000;
const OVERDUE = { OVERDUE_REQUESTED_MINUTES: '1', OVERDUE_STARTED_MINUTES: '1', OVERDUE_REPORT_MINUTES: '1' };

/** The board with many open tows: a third requested, a third started, a third detained, none of them reported. */
export const board: Workload = {
  name: 'board',
  about: 'pages of a board of 10,000 open tows, all of them overdue, and its live refresh',
  isStandard: false,
  measure: (tools) => compare('board', { figures: FIGURES, plays: [{ contender: 'towhook', run: visit }] }, tools),
};

/** Figures by the page they are of. */
const PAGES = {
  first: ['first page', '/board'],
  oldest: ['oldest first', '/board?order=oldest'],
  requested: ['requested', '/board?state=requested'],
  unsent: ['unsent', '/board?unsent=true'],
  overdue: ['overdue', '/board?overdue=true'],
  both: ['unsent and overdue', '/board?overdue=true&unsent=true'],
  unassigned: ['unassigned, any state', '/board?state=all&crew='],
  search: ['search that finds every tow', '/board?q=tw-'],
  list: ['list of the API, 50 tows', '/api/tows?limit=50'],
} as const;

const FIGURES: Readonly<Record<string, Measurement>> = {
  ...Object.fromEntries(Object.entries(PAGES).map(([name, [label]]) => [name, { label, unit: 'ms', digits: 1 }])),
  refresh: { label: 'live refresh', unit: 'ms', digits: 1 },
  slow: { label: 'Redis commands over 10 ms', unit: '', digits: 0 },
};

async function visit(world: BenchWorld, { openTows }: Options): Promise<Sample> {
  const third = Math.ceil(openTows / 3);
  const ranges = [0, 1, 2].map((place) => ({ prefix: `o${place}`, from: 0, count: third }));
  await makeTows(world, ranges);
  const console = await world.role('console', OVERDUE);
  const url = console.url('console');
  const load = startLoad(world);
  for (const [factsPerTow, range] of ranges.entries()) {
    if (factsPerTow > 0) await load.facts(url, range, { connections: CONNECTIONS, factsPerTow });
  }
  await pause(OVERDUE_AFTER_MS);
  const visitor = await visitConsole(url);
  await world.redis.ask('SLOWLOG', 'RESET');
  const sample: Record<string, number> = {};
  for (const [name, [, path]] of Object.entries(PAGES)) sample[name] = await visitor.timed(path);
  sample['refresh'] = await visitor.timedRefresh();
  return { ...sample, slow: (await world.redis.slowCommands()).length };
}
