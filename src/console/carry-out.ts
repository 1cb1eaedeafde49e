import type { ApiAnswer, ApiCall, ApiRefusal, JsonRoute, OperatorApi } from '../workflow/operator-port';
import { elsewhere, type Done, type Failure, type Shown } from './answers';
import type { Posted } from './serve';

/** What a form asks the API for. */
export interface Asked<R extends JsonRoute> extends Omit<ApiCall, 'actor' | 'idempotencyKey'> {
  readonly route: R;
  /**
   * What is asked by now, of a form that says what was asked when it was made (`PostForm`): it has no effect when that is
   * something else, since somebody decided meanwhile, or it changed by itself. Null: the API itself says why nothing can
   * be decided any more.
   */
  readonly question?: () => Promise<string | null>;
  /** Which form of the page it is, so that a refusal is shown there. */
  readonly form: string;
  /** Where to go once it is done, and what to say there. */
  readonly next: string;
  readonly done: Done;
  /** The page once more, with the reason and with what was entered. */
  readonly again: (failure: Failure) => Promise<Shown>;
}

/**
 * Carries out what a form asks for: on to the next page, or the page once more with the reason why not. A form that had
 * its effect and is sent again leads to the same page as the first time.
 */
export async function carryOut<R extends JsonRoute>(api: OperatorApi, posted: Posted, asked: Asked<R>): Promise<Shown> {
  const { route, form, next, done, again, question, ...call } = asked;
  const now = question ? await question() : null;
  if (now !== null && now !== posted.form.get('question') && !(await hadItsEffect(api, posted, asked))) {
    return again({ form, refusal: ASKED_NO_MORE, entered: posted.form });
  }
  const answer: ApiAnswer<unknown> = await api.call(route, {
    ...call,
    actor: posted.actor,
    ...(posted.idempotencyKey === '' ? {} : { idempotencyKey: posted.idempotencyKey }),
  });
  if (answer.ok) return elsewhere(next, done);
  return again({ form, refusal: answer.refusal, entered: posted.form });
}

const ASKED_NO_MORE: ApiRefusal = {
  httpStatus: 409,
  code: 'asked_no_more',
  message: 'This is no longer asked as it was: somebody decided, or it changed by itself.',
  details: [],
  retryAfterMs: null,
};

/** Looked at after the question: the effect that changed it and the memory of it are written together. */
async function hadItsEffect(
  api: OperatorApi,
  { idempotencyKey }: Posted,
  { route, params = {} }: Asked<JsonRoute>,
): Promise<boolean> {
  return idempotencyKey !== '' && (await api.remembers(route, { params, idempotencyKey }));
}
