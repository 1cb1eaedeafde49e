import { rateOf, startLoad } from '../stage/load';
import { drainWithWorkers } from '../workloads/lifecycle';
import { makeTows } from '../workloads/owed-tows';
import type { Options } from '../workloads/workload';
import { visitConsole } from './console-visitor';
import type { StoredWorld } from './stored-world';

/** One thing that is measured at every size, with values by label. Its rounds are interleaved over the sizes. */
export interface HistoryStep {
  readonly name: string;
  readonly run: (stored: StoredWorld, options: Options, round: number) => Promise<ReadonlyMap<string, number>>;
}

/** Tows of one round of the lifecycle. */
const CARRIED = 200;
/** Webhooks of one round of accept; with workers held, so that the sizes stay comparable. */
const WEBHOOKS = 2000;

export const STEPS: readonly HistoryStep[] = [
  { name: 'accept', run: accept },
  { name: 'facts, lists and lifecycle', run: carry },
];

async function accept({ world }: StoredWorld, { connections }: Options, round: number) {
  const receiver = await world.role('receiver');
  const load = startLoad(world);
  const url = receiver.url('receiver');
  await load.deliver(url, { prefix: `5${round}`, from: WEBHOOKS, count: WEBHOOKS }, connections);
  const report = await load.deliver(url, { prefix: `5${round}`, from: 0, count: WEBHOOKS }, connections);
  await receiver.stop();
  return new Map([
    ['accept, workers held, webhooks/s', rateOf(report)],
    ['accept, workers held, p99 ms', report.p99Ms ?? Number.NaN],
  ]);
}

/** Facts of new tows, lists while their reports are owed, then the reports. */
async function carry(stored: StoredWorld, { connections }: Options, round: number) {
  const { world, clone, clones } = stored;
  const figures = new Map<string, number>();
  const range = { prefix: `6${round}`, from: 0, count: CARRIED };
  await makeTows(world, [range]);
  const console = await world.role('console');
  const facts = await startLoad(world).facts(console.url('console'), range, { connections });
  figures.set('facts through the API, facts/s', rateOf(facts));

  const visitor = await visitConsole(console.url('console'));
  const last = clone(clones - 1);
  const found = await visitor.search(last);
  if (found.length !== 1 || found[0] !== last) throw new Error(`a search for ${last} found ${found.length} tows`);
  for (const [label, path] of Object.entries(pages(last))) figures.set(`${label}, ms`, await visitor.timed(path));
  figures.set('board refresh, ms', await visitor.timedRefresh());
  await console.stop();

  const drained = await drainWithWorkers(world, { tows: CARRIED, workers: 1 });
  await Promise.all(drained.roles.map((role) => role.stop()));
  return figures.set('lifecycle, tows/s', drained.sample['rate'] ?? Number.NaN);
}

function pages(ref: string): Record<string, string> {
  return {
    'list of tows': '/api/tows?limit=50',
    'list of released tows': '/api/tows?state=released&limit=50',
    'search by reference': `/api/tows?q=${ref}`,
    'one tow': `/api/tows/${ref}`,
    'list of deliveries': '/api/deliveries?limit=50',
    board: '/board',
    'board, all states': '/board?state=all',
    'page Ops': '/ops',
  };
}
