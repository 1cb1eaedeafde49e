import { BACKLOGS } from '../domain/figures';
import { createFiguresStore } from '../store/figures';
import { createSendingStore } from '../store/sending';
import type { Foundation } from './foundation';

/** Counts how much work waits, tasks for people included, among the levels of this process. Rejects when Redis does. */
export function openSampling({ config, redis, backlogOf, tally }: Foundation): () => Promise<void> {
  const figures = createFiguresStore(redis);
  const sending = createSendingStore(redis, config.budgetsPerMinute);
  return async () => {
    const [tasks, { held }, ...backlogs] = await Promise.all([
      figures.openTasks(),
      sending.read(),
      ...BACKLOGS.map(async (name) => ({ name, ...(await backlogOf(name)) })),
    ]);
    tally.level('tasks', tasks);
    tally.level('held', held);
    for (const { name, due, oldestAgeMs } of backlogs) {
      tally.level(`due.${name}`, due);
      tally.level(`oldest.${name}`, oldestAgeMs);
    }
  };
}
