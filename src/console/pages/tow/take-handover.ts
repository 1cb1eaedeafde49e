import { createHash } from 'node:crypto';
import { ROUTES } from '../../../contracts/operator-routes';
import type { ApiRefusal } from '../../../workflow/operator-port';
import type { Posted } from '../../serve';
import type { PageTools } from '../../tools';

/**
 * Notes who takes the vehicle, as the form of a release says, before the release is recorded: a release whose note is lost
 * could not be proved. The same words are one note within 24 hours, also when the release is refused and sent anew. Gives
 * why the note was refused; null where it stands, or where nothing was entered.
 */
export async function noteHandover(
  { api }: Pick<PageTools, 'api'>,
  { actor, form, params }: Posted,
): Promise<ApiRefusal | null> {
  const [name, identity] = [entered(form, 'handed_to'), entered(form, 'handed_id')];
  if (name === '' && identity === '') return null;
  const words = [`Handed to ${name === '' ? '(no name)' : name}`, ...(identity === '' ? [] : [`id ${identity}`])];
  const text = words.join(', ');
  const ref = params('ref');
  const answer = await api.call(ROUTES.addNote, {
    actor,
    params: { towing_reference_id: ref },
    body: { text },
    idempotencyKey: `handover-${createHash('sha256')
      .update(JSON.stringify([ref, text]))
      .digest('hex')}`,
  });
  return answer.ok ? null : answer.refusal;
}

function entered(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').trim();
}
