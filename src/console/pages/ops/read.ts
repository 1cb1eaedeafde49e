import { ROUTES } from '../../../contracts/operator-routes';
import type { Actor } from '../../../domain/audit';
import type { AnswerOf } from '../../../workflow/operator-port';
import { BACKLOGS, SENT_KINDS, type Backlog } from '../../../domain/figures';
import type { FiguresStore } from '../../../workflow/figures-port';
import type { PageTools } from '../../tools';
import { oneOf } from '../../viewer';
import { SYSTEM_TASKS, type Known } from './alarms';
import { ask } from './ask';

export type OverviewTools = Pick<PageTools, 'api' | 'processes' | 'figures' | 'spool'>;

/** A queue as the API shows it, by a name of ours. */
export type Queue = AnswerOf<typeof ROUTES.listQueues>[number] & { readonly name: Backlog };

/** All that the overview shows, as it is now. */
export async function readOverview(
  { api, processes, figures, spool }: OverviewTools,
  { actor, nowMs }: { actor: Actor; nowMs: number },
): Promise<Known> {
  const [sending, queues, conservation, standings, openTasks, attempts, alarm, systemTasks] = await Promise.all([
    ask(api, ROUTES.readSending, { actor }),
    ask(api, ROUTES.listQueues, { actor }),
    ask(api, ROUTES.readConservation, { actor }),
    processes.list(),
    figures.openTasks(),
    readAttempts(figures, nowMs),
    spool.alarm(),
    Promise.all(
      SYSTEM_TASKS.map(async (type) => {
        const { items } = await ask(api, ROUTES.listTasks, { actor, query: { type, limit: '1' } });
        return items.length > 0 ? [type] : [];
      }),
    ),
  ]);
  return {
    sending,
    queues: queues.flatMap((queue) => {
      const name = oneOf(BACKLOGS, queue.name);
      return name === null ? [] : [{ ...queue, name }];
    }),
    conservation,
    processes: standings,
    recordsMissingSince: alarm && new Date(alarm.sinceMs).toISOString(),
    systemTasks: systemTasks.flat(),
    openTasks,
    attempts,
    nowMs,
  };
}

const MINUTE_MS = 60_000;
const LATELY_MINUTES = 5;

/** The tries of the last complete minutes: how many came to an end, and how many of them to nothing. */
async function readAttempts(figures: FiguresStore, nowMs: number): Promise<Known['attempts']> {
  const toMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  const { lines } = await figures.series({ fromMs: toMs - LATELY_MINUTES * MINUTE_MS, toMs, stepMs: MINUTE_MS });
  const sum = (names: readonly (keyof typeof lines)[]) =>
    names.flatMap((name) => lines[name]).reduce<number>((total, point) => total + (point ?? 0), 0);
  const failed = sum(['attempts.failed', 'attempts.refused', 'attempts.unknown']);
  return { made: failed + sum(SENT_KINDS.map((kind) => `delivered.${kind}` as const)), failed };
}
