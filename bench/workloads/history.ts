import { measureConservation } from '../history/conservation';
import { STEPS } from '../history/steps';
import { openStoredWorld, type StoredWorld } from '../history/stored-world';
import { median } from '../measure/statistics';
import { number } from '../measure/table';
import type { WorkloadTools, Workload } from './workload';

/** How many of the slow commands are shown per size. */
const SLOW_SHOWN = 5;
/** Commands of the bench itself. */
const OWN_COMMANDS = /^[\d.]+ ms (SCAN|INFO|SLOWLOG|CONFIG) /;

/** The same measurements at different numbers of stored tows: nothing may depend on the history. */
export const history: Workload = {
  name: 'history',
  about: 'the same at different numbers of stored tows: accept, facts, lists, search, board, lifecycle, conservation',
  isStandard: false,
  async measure(tools) {
    const worlds: StoredWorld[] = [];
    try {
      for (const stored of tools.options.stored) {
        tools.progress(`history: ${stored} stored tows`);
        worlds.push(await openStoredWorld(stored, tools));
      }
      return { rows: [], sections: [await measureWorlds(worlds, tools)], failures: [] };
    } finally {
      await Promise.all(worlds.map(({ world }) => world.close()));
    }
  },
};

/** By label, then by size: the values of all rounds. */
type Values = Map<string, Map<number, number[]>>;

async function measureWorlds(worlds: readonly StoredWorld[], { options, progress }: WorkloadTools): Promise<string> {
  const values: Values = new Map();
  const keep = (stored: number, figures: ReadonlyMap<string, number>) => {
    for (const [label, value] of figures) {
      const bySize = values.get(label) ?? new Map<number, number[]>();
      values.set(label, bySize.set(stored, [...(bySize.get(stored) ?? []), value]));
    }
  };
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const { name, run } of STEPS) {
      for (const each of worlds) {
        progress(`history, round ${round} of ${options.rounds}: ${name} at ${each.stored}`);
        keep(each.stored, await run(each, options, round));
      }
    }
  }
  const slow: string[] = [];
  for (const each of worlds) {
    progress(`history: conservation check at ${each.stored}`);
    keep(each.stored, await measureConservation(each));
    const commands = (await each.world.redis.slowCommands()).filter((command) => !OWN_COMMANDS.test(command));
    keep(each.stored, new Map([['Redis commands over 10 ms', commands.length]]));
    slow.push(...commands.slice(0, SLOW_SHOWN).map((text) => `- at ${number(each.stored, 0)}: \`${text}\``));
  }
  return sectionOf(
    worlds.map(({ stored }) => stored),
    values,
    slow,
  );
}

function sectionOf(sizes: readonly number[], values: Values, slow: readonly string[]): string {
  const lines = [...values].map(([label, bySize]) => {
    const medians = sizes.map((stored) => median(bySize.get(stored) ?? []));
    const [first = Number.NaN] = medians;
    return [label, ...medians.map(cell), cell((medians.at(-1) ?? Number.NaN) / first)];
  });
  return [
    '## History',
    '',
    `| figure | ${sizes.map((stored) => `${number(stored, 0)} stored`).join(' | ')} | last ÷ first |`,
    `| --- | ${sizes.map(() => '---: | ').join('')}---: |`,
    ...lines.map((cells) => `| ${cells.join(' | ')} |`),
    ...(slow.length > 0 ? ['', 'The slowest Redis commands over 10 ms:', '', ...slow] : []),
  ].join('\n');
}

function cell(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return number(value, Number.isInteger(value) ? 0 : value < 100 ? 2 : 0);
}
