import { elsewhere, part, type Failure, type Shown } from '../../answers';
import { OpenTasks } from '../../parts/open-tasks';
import type { Pages, Visit } from '../../serve';
import type { PageTools } from '../../tools';
import { bulkPath } from '../bulk/query';
import { asksForBulkBar } from './bulk-bar';
import { choose } from './choose';
import { decide } from './decide';
import { showLive } from './live';
import { tasksPage } from './page';
import { readQuery } from './query';
import { readTasks } from './read';

/** What a person must decide, and deciding it in place, one by one or many at once. */
export function serveTasks(pages: Pages, tools: PageTools): void {
  const show = async ({ viewer, query: given }: Visit, failure: Failure | null = null): Promise<Shown> => {
    const query = readQuery(given);
    return tasksPage({
      viewer,
      query,
      page: await readTasks(tools, query),
      isBulkOpen: asksForBulkBar(given),
      failure,
    });
  };
  pages.get('/tasks', 'viewer', (visit) => show(visit));

  // To the address of the list itself: after a refusal it still is that of the list.
  pages.post('/tasks', 'dispatcher', async (posted) => {
    if (!posted.form.has('bulk')) return decide(tools, posted, (failure) => show(posted, failure));
    const chosen = await choose(tools, posted);
    return chosen.ok ? elsewhere(bulkPath(chosen.run.id)) : show(posted, chosen.failure);
  });

  pages.post('/tasks/live', 'viewer', (posted) => showLive(tools, posted));

  pages.get('/tasks/count', 'viewer', async ({ viewer }) =>
    part(<OpenTasks viewer={viewer} count={await tools.tasks.count()} />),
  );
}
