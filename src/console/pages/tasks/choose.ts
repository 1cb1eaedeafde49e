import { BULK_ACTIONS } from '../../../contracts/bulk';
import type { BulkRun } from '../../../workflow/bulk-port';
import type { Failure } from '../../answers';
import type { Posted } from '../../serve';
import type { PageTools } from '../../tools';
import { oneOf } from '../../viewer';
import { failureOf } from '../bulk/failure';
import { BULK_FORM, SCOPES } from './bulk-bar';
import { filterOf, readQuery } from './query';

/** Chooses the tasks that a form of the list means, to be looked at before anything is decided. */
export async function choose(
  { bulk }: Pick<PageTools, 'bulk'>,
  { form, query, actor }: Posted,
): Promise<{ ok: true; run: BulkRun } | { ok: false; failure: Failure }> {
  const reason = (form.get('reason') ?? '').trim();
  const asked = {
    action: oneOf(BULK_ACTIONS, form.get('action') ?? undefined),
    ...meant(form, query),
    ...(reason === '' ? {} : { reason }),
  };
  const preview = await bulk.preview(asked, actor);
  return preview.ok ? preview : { ok: false, failure: failureOf(preview.refusal, { form: BULK_FORM, entered: form }) };
}

/** A filter that says nothing goes on as it is: what it means is for the rules to say. */
function meant(form: URLSearchParams, query: URLSearchParams) {
  switch (oneOf(SCOPES, form.get('scope') ?? undefined) ?? 'ticked') {
    case 'ticked':
      return { task_ids: form.getAll('chosen') };
    case 'page':
      return { task_ids: form.getAll('shown') };
    case 'filter': {
      const { type, kind, towingReferenceId } = filterOf(readQuery(query));
      return { filter: { type, kind, towing_reference_id: towingReferenceId } };
    }
  }
}
