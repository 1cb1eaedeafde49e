import { CONTENDERS, type Contender, type Measurement, type MeasurementRow, type Sample } from '../measure/figures';
import { openWorld, type BenchWorld } from '../stage/world';

/** Sizes of a run; the command line sets them. */
export interface Options {
  readonly rounds: number;
  readonly tows: number;
  readonly seconds: number;
  readonly connections: number;
  readonly serviceLatencyMs: number;
  readonly towsPerSecond: number;
  readonly backlogTows: number;
  /** Open tows of the board. */
  readonly openTows: number;
  /** Numbers of stored tows. */
  readonly stored: readonly number[];
}

export interface WorkloadTools {
  readonly options: Options;
  /** Shows the person at the terminal what is measured now. */
  readonly progress: (text: string) => void;
}

export interface WorkloadResult {
  readonly rows: readonly MeasurementRow[];
  /** Markdown sections for what is not a comparison of contenders. */
  readonly sections: readonly string[];
  /** One line per run that failed. */
  readonly failures: readonly string[];
}

export interface Workload {
  readonly name: string;
  readonly about: string;
  /** True for the set that runs when no workload is named. */
  readonly isStandard: boolean;
  readonly measure: (tools: WorkloadTools) => Promise<WorkloadResult>;
}

/** One way to play a workload. Contenders may have several, each with figures of its own. */
export interface Play {
  readonly contender: Contender;
  /** What distinguishes it from other plays of its contender. */
  readonly variant?: string;
  readonly run: (world: BenchWorld, options: Options) => Promise<Sample>;
}

/**
 * Runs every play once per round, each in a world of its own, so that what disturbs the machine for a while disturbs all
 * contenders. Returns one row per figure. A run that fails is reported and the others go on.
 */
export async function compare(
  workload: string,
  { figures, plays }: { figures: Readonly<Record<string, Measurement>>; plays: readonly Play[] },
  { options, progress }: WorkloadTools,
): Promise<WorkloadResult> {
  const samples: { contender: Contender; sample: Sample }[] = [];
  const failures: string[] = [];
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const { contender, variant, run } of plays) {
      const name = `${workload}, round ${round} of ${options.rounds}: ${contender}${variant ? `, ${variant}` : ''}`;
      progress(name);
      const world = await openWorld(options);
      try {
        samples.push({ contender, sample: await run(world, options) });
      } catch (error) {
        failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
        progress(failures.at(-1) ?? '');
      } finally {
        await world.close();
      }
    }
  }
  const rows = Object.entries(figures).map(([name, figure]): MeasurementRow => {
    const values = CONTENDERS.map((contender) => {
      const own = samples.filter((each) => each.contender === contender);
      return [contender, own.flatMap(({ sample }) => sample[name] ?? [])] as const;
    });
    return { workload, figure, values: Object.fromEntries(values.filter(([, list]) => list.length > 0)) };
  });
  return { rows, sections: [], failures };
}
