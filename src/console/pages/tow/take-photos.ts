import { ROUTES } from '../../../contracts/operator-routes';
import { elsewhere } from '../../answers';
import { OWN_FIELDS } from '../../entries';
import type { Pages } from '../../serve';
import { isFormOf } from '../../sessions';
import type { TowTools } from './index';
import { towPath } from './model';

/** Photos of the vehicle: read from the request by the API itself, straight to the disk. */
export function takePhotos(pages: Pages, tools: TowTools): void {
  pages.upload('/tows/:ref/photos', 'crew', async (visit) => {
    const ref = visit.params('ref');
    const answer = await tools.api.form(ROUTES.addPhotos, {
      actor: visit.actor,
      params: { towing_reference_id: ref },
      request: visit.request,
      ownFields: OWN_FIELDS,
      admits: (own) => isFormOf(visit.visitor, own['form_token'] ?? ''),
      idempotencyField: 'form_key',
    });
    if (answer.ok) return elsewhere(towPath(ref), 'saved');
    const { refusal } = answer;
    return tools.show(visit, { form: 'photos', refusal, entered: new URLSearchParams() });
  });
}
