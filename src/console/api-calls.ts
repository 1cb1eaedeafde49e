import type {
  ApiAnswer,
  ApiCall,
  ApiCallRefusal,
  ApiForm,
  FormRoute,
  JsonRoute,
  OperatorApi,
  RouteAnswer,
} from '../workflow/operator-port';
import { redirect, type DoneMessage, type FormFailure, type PageResult, type PostedForm } from './page';
import type { Actor } from '../domain/ops/audit';

/** A form and the API call it makes. */
interface Submission<R extends JsonRoute> extends Omit<ApiCall, 'actor' | 'idempotencyKey'> {
  readonly route: R;
  /**
   * The current question, for a form that contains the question it answers (`PostForm`). If they differ, the form has
   * no effect, because someone decided or the state changed meanwhile. Null: the API refuses with its own reason.
   */
  readonly question?: () => Promise<string | null>;
  /** The refusal of a form whose question differs; by default that of a decision. */
  readonly overtaken?: ApiCallRefusal;
  /** The name of the form, to show a refusal in it. */
  readonly form: string;
  /** The page to redirect to, and its message. */
  readonly next: string | ((answer: RouteAnswer<R>) => string);
  readonly done: DoneMessage | null;
  /** Shows the page again with the refusal and the entered fields. */
  readonly again: (failure: FormFailure) => Promise<PageResult>;
}

/**
 * Calls the API for a form. Redirects on success, else shows the page again with the refusal. A repeated form that took
 * effect redirects like the first time.
 */
export async function submit<R extends JsonRoute>(
  api: OperatorApi,
  posted: PostedForm,
  asked: Submission<R>,
): Promise<PageResult> {
  const { route, form, next, done, again, question, overtaken = ASKED_NO_MORE, ...call } = asked;
  const { idempotencyKey } = posted;
  const answered = { question: posted.form.get('question'), idempotencyKey };
  if (question && (await isOvertaken(api, { route, params: call.params, question }, answered))) {
    return again({ form, refusal: overtaken, entered: posted.form });
  }
  const answer: ApiAnswer<RouteAnswer<R>> = await api.call(route, {
    ...call,
    ...keyed(posted),
  });
  if (answer.ok) return redirect(typeof next === 'string' ? next : next(answer.value), done);
  return again({ form, refusal: answer.refusal, entered: posted.form });
}

/** Who calls for a form, and the key that makes its repetition harmless. */
export function keyed({ actor, idempotencyKey }: PostedForm): Pick<ApiCall, 'actor' | 'idempotencyKey'> {
  return { actor, ...(idempotencyKey === '' ? {} : { idempotencyKey }) };
}

const ASKED_NO_MORE: ApiCallRefusal = {
  httpStatus: 409,
  code: 'asked_no_more',
  message: 'This is no longer asked as it was: someone decided, or the state changed.',
  details: [],
  retryAfterMs: null,
};

/** Of a form that replaces or records values which have changed since the page was shown. */
export const CHANGED_MEANWHILE: ApiCallRefusal = {
  ...ASKED_NO_MORE,
  code: 'changed_meanwhile',
  message: 'This was changed since the page was shown.',
};

/** Refuses a form with files that answers another question than the current one, unless it had its effect before. */
export function refusalOfUpload(
  api: Pick<OperatorApi, 'hadEffect'>,
  asked: Asked<FormRoute>,
): NonNullable<ApiForm['refusalOf']> {
  return async ({ question = '', form_key: idempotencyKey = '' }) =>
    (await isOvertaken(api, asked, { question, idempotencyKey })) ? ASKED_NO_MORE : null;
}

/** The call of a form, and the current question. */
interface Asked<R> {
  readonly route: R;
  readonly params: ApiCall['params'];
  readonly question: () => Promise<string | null>;
}

/** True if a form answers another question than the current one and had no effect yet. */
async function isOvertaken(
  api: Pick<OperatorApi, 'hadEffect'>,
  { route, params = {}, question }: Asked<JsonRoute | FormRoute>,
  answered: { readonly question: string | null; readonly idempotencyKey: string },
): Promise<boolean> {
  const now = await question();
  if (now === null || now === answered.question) return false;
  const { idempotencyKey } = answered;
  // Checked after the question, because the effect and its idempotency record are written together.
  return idempotencyKey === '' || !(await api.hadEffect(route, { params, idempotencyKey }));
}

/** How pages read: through the operator API, as the person who is signed in. */

/** Reads a route that everyone who may see the page may read. Rejects if the API refuses. */
export async function readRoute<R extends JsonRoute>(
  api: OperatorApi,
  route: R,
  call: ApiCall,
): Promise<RouteAnswer<R>> {
  return valueOf(route, await api.call(route, call));
}

/** Reads a record; null if there is none. */
export async function readRecord<R extends JsonRoute>(
  api: OperatorApi,
  route: R,
  call: ApiCall,
): Promise<RouteAnswer<R> | null> {
  const answer = await api.call(route, call);
  return !answer.ok && answer.refusal.httpStatus === 404 ? null : valueOf(route, answer);
}

/** A list as its address asks for it. Filters that are null do not narrow it. */
interface ListAddress {
  readonly actor: Actor;
  readonly filters: Readonly<Record<string, string | null>>;
  readonly cursor: string | null;
}

/** Reads a page of a list; the first one, with the cursor null, for the cursor of another list or of other filters. */
export async function readList<R extends JsonRoute>(
  api: OperatorApi,
  route: R,
  { actor, filters, cursor }: ListAddress,
): Promise<{ readonly list: RouteAnswer<R>; readonly cursor: string | null }> {
  const given = Object.entries(filters).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  const query = Object.fromEntries(given);
  const answer = cursor === null ? null : await api.call(route, { actor, query: { ...query, cursor } });
  if (answer?.ok === true) return { list: answer.value, cursor };
  return { list: await readRoute(api, route, { actor, query }), cursor: null };
}

function valueOf<T>(route: JsonRoute, answer: ApiAnswer<T>): T {
  if (!answer.ok) throw new Error(`${route.path} was refused as ${answer.refusal.code}`);
  return answer.value;
}
