import type { ApiAnswer, ApiCall, JsonRoute, OperatorApi } from '../workflow/operator-port';
import { elsewhere, type Done, type Failure, type Shown } from './answers';
import type { Posted } from './serve';

/** What a form asks the API for. */
export interface Asked<R extends JsonRoute> extends Omit<ApiCall, 'actor' | 'idempotencyKey'> {
  readonly route: R;
  /** Which form of the page it is, so that a refusal is shown there. */
  readonly form: string;
  /** Where to go once it is done, and what to say there. */
  readonly next: string;
  readonly done: Done;
  /** The page once more, with the reason and with what was entered. */
  readonly again: (failure: Failure) => Promise<Shown>;
}

/** Carries out what a form asks for: on to the next page, or the page once more with the reason why not. */
export async function carryOut<R extends JsonRoute>(api: OperatorApi, posted: Posted, asked: Asked<R>): Promise<Shown> {
  const { route, form, next, done, again, ...call } = asked;
  const answer: ApiAnswer<unknown> = await api.call(route, {
    ...call,
    actor: posted.actor,
    ...(posted.idempotencyKey === '' ? {} : { idempotencyKey: posted.idempotencyKey }),
  });
  if (answer.ok) return elsewhere(next, done);
  return again({ form, refusal: answer.refusal, entered: posted.form });
}
