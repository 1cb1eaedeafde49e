import type { Failure, Shown } from '../../answers';
import { elsewhere } from '../../answers';
import type { Pages, Visit } from '../../serve';
import type { PageTools } from '../../tools';
import { takeDecisions } from './take-decisions';
import { takeFacts } from './take-facts';
import { takeLocal } from './take-local';
import { takePhotos } from './take-photos';
import { readTow, towPath } from './model';
import { missingTow, towPage, towPart } from './page';

/** The page of one tow, and everything that can be said and decided there. */
export function serveTow(pages: Pages, tools: PageTools): void {
  const show: ShowTow = async (visit, failure = null) => {
    const model = await readTow(tools, visit, failure);
    if (!model) return missingTow(visit.viewer, visit.params('ref'));
    return visit.wantsPart ? towPart(model) : towPage(model);
  };
  pages.get('/tows/:ref', 'viewer', (visit) => show(visit));
  takeFacts(pages, { ...tools, show });
  takeDecisions(pages, { ...tools, show });
  takeLocal(pages, { ...tools, show });
  takePhotos(pages, { ...tools, show });
  // After a refusal the address is that of the form: whoever opens it again means the tow.
  pages.get('/tows/:ref/*form', 'viewer', async (visit) => elsewhere(towPath(visit.params('ref'))));
}

/** The page, with what was refused. */
export type ShowTow = (visit: Visit, failure?: Failure | null) => Promise<Shown>;

export type TowTools = PageTools & { readonly show: ShowTow };
