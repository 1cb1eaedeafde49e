import type { z } from 'zod';
import { ROUTES } from '../../../contracts/operator-routes';
import type { apiKeyView } from '../../../contracts/operator';
import type { ApiAnswer } from '../../../workflow/operator-port';
import { page, type Failure, type Shown } from '../../answers';
import { carryOut } from '../../carry-out';
import { bodyOf } from '../../entries';
import type { Pages, Posted, Visit } from '../../serve';
import type { PageTools } from '../../tools';
import { ask } from './ask';
import { KeyListPage, KeyShownPage } from './key-pages';

type KeyView = z.output<typeof apiKeyView>;

const PATH = '/ops/keys';

/** API keys. The text of a key stands on the one page that answers its making, which nothing keeps. */
export function serveKeyPages(pages: Pages, { api }: Pick<PageTools, 'api'>): void {
  const show = async ({ viewer, actor }: Visit, failure: Failure | null): Promise<Shown> => {
    const { items } = await ask(api, ROUTES.listApiKeys, { actor });
    return page(viewer.words.keys.title, <KeyListPage viewer={viewer} keys={items} failure={failure} />, {
      httpStatus: failure?.refusal.httpStatus ?? 200,
    });
  };
  const shown = async (
    posted: Posted,
    answer: ApiAnswer<KeyView | (KeyView & { api_key: string })>,
    { form, act }: { form: string; act: 'made' | 'rotated' },
  ): Promise<Shown> => {
    if (!answer.ok) return show(posted, { form, refusal: answer.refusal, entered: posted.form });
    const { viewer } = posted;
    const text = 'api_key' in answer.value ? answer.value.api_key : null;
    const { keys } = viewer.words;
    return page(keys.title, <KeyShownPage viewer={viewer} apiKey={answer.value} text={text} act={act} />);
  };
  const keyed = ({ actor, idempotencyKey }: Posted) => ({
    actor,
    ...(idempotencyKey === '' ? {} : { idempotencyKey }),
  });

  pages.get(PATH, 'ops', (visit) => show(visit, null));

  pages.post(PATH, 'ops', async (posted) => {
    const body = bodyOf(posted.form, { only: ['name', 'role'] });
    const answer = await api.call(ROUTES.createApiKey, { ...keyed(posted), body });
    return shown(posted, answer, { form: 'create', act: 'made' });
  });

  pages.post(`${PATH}/:id/rotate`, 'ops', async (posted) => {
    const id = posted.params('id');
    const body = bodyOf(posted.form, { only: ['grace_hours'], numbers: ['grace_hours'] });
    const answer = await api.call(ROUTES.rotateApiKey, { ...keyed(posted), params: { key_id: id }, body });
    return shown(posted, answer, { form: `rotate-${id}`, act: 'rotated' });
  });

  pages.post(`${PATH}/:id/revoke`, 'ops', async (posted) => {
    const id = posted.params('id');
    return carryOut(api, posted, {
      route: ROUTES.revokeApiKey,
      form: `revoke-${id}`,
      params: { key_id: id },
      next: PATH,
      done: 'key_revoked',
      again: (failure) => show(posted, failure),
    });
  });
}
