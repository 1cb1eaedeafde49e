import { ROUTES } from '../../../contracts/operator-routes';
import type { Actor } from '../../../domain/audit';
import { BACKLOGS, type Backlog } from '../../../domain/figures';
import type { AnswerOf } from '../../../workflow/operator-port';
import type { PageTools } from '../../tools';
import { oneOf } from '../../viewer';
import { SYSTEM_TASKS, type Known } from './alarms';
import { ask } from './ask';

export type OverviewTools = Pick<PageTools, 'api' | 'processes'>;

/** A queue as the API shows it, by a name of ours. */
export type Queue = AnswerOf<typeof ROUTES.listQueues>[number] & { readonly name: Backlog };

/** All that the overview shows, as it is now. */
export async function readOverview(
  { api, processes }: OverviewTools,
  { actor, nowMs }: { actor: Actor; nowMs: number },
): Promise<Known> {
  const [sending, queues, conservation, standings, systemTasks] = await Promise.all([
    ask(api, ROUTES.readSending, { actor }),
    ask(api, ROUTES.listQueues, { actor }),
    ask(api, ROUTES.readConservation, { actor }),
    processes.list(),
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
    systemTasks: systemTasks.flat(),
    nowMs,
  };
}
