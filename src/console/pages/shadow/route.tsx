import { ROUTES } from '../../../contracts/operator-routes';
import type { ApiAnswer, ApiCallRefusal } from '../../../workflow/operator-port';
import {
  page,
  redirect,
  type FormFailure,
  type Pages,
  type PageTools,
  type PageVisit,
  type PostedForm,
} from '../../page';
import { PAGES } from '../../page-table';
import { bodyOf } from '../../forms';
import { submit } from '../../api-calls';
import { oneOf } from '../../viewer';
import { chosenIn, FORM, ShadowPage } from './view';

const ROWS = '50';
const DECISIONS = ['send', 'decline'] as const;

const NOTHING_TICKED: ApiCallRefusal = {
  httpStatus: 422,
  code: 'nothing_ticked',
  message: 'No tow or violation is chosen.',
  details: [],
  retryAfterMs: null,
};

/** What shadow mode would have sent, and the decisions about it. */
export function serveWithheld(pages: Pages, { api }: Pick<PageTools, 'api'>): void {
  const show = async (visit: PageVisit, failure: FormFailure | null = null) => {
    const { viewer, actor } = visit;
    const cursor = visit.query.get('cursor');
    const query = { limit: ROWS, ...(cursor === null ? {} : { cursor }) };
    const answer = await api.call(ROUTES.readWithheld, { actor, query });
    // Only the cursor can be invalid.
    if (!answer.ok) return redirect(PAGES.shadow.path);
    return page(
      viewer.messages.shadow.title,
      <ShadowPage viewer={viewer} view={answer.value} cursor={cursor} failure={failure} />,
      { httpStatus: failure?.refusal.httpStatus ?? 200 },
    );
  };

  pages.get(PAGES.shadow.path, PAGES.shadow.role, (visit) => show(visit));

  pages.post(PAGES.shadow.path, 'ops', async (posted) => {
    const decision = oneOf(DECISIONS, posted.form.get('decision') ?? undefined);
    const chosen = chosenIn(posted.form);
    if (decision === null) return redirect(PAGES.shadow.path);
    if (chosen.length === 0) return show(posted, { form: FORM, refusal: NOTHING_TICKED, entered: posted.form });
    // One after the other: each is one commit with its own key, so that a repeated form has no second effect.
    for (const each of chosen) {
      const refusal = await decide(posted, decision, each);
      if (refusal !== null) return show(posted, { form: FORM, refusal, entered: posted.form });
    }
    return redirect(PAGES.shadow.path, decision === 'send' ? 'shadow_sent' : 'shadow_declined');
  });

  pages.post(`${PAGES.shadow.path}/mode`, 'ops', async (posted) =>
    submit(api, posted, {
      route: ROUTES.changeMode,
      form: 'mode',
      body: bodyOf(posted.form, { only: ['mode', 'reason'] }),
      next: PAGES.shadow.path,
      done: posted.form.get('mode') === 'live' ? 'sending_resumed' : 'sending_stopped',
      again: (failure) => show(posted, failure),
    }),
  );

  /** Returns the refusal; null when it is done. One that someone else decided meanwhile is passed over. */
  async function decide(
    { actor, form, idempotencyKey }: PostedForm,
    decision: (typeof DECISIONS)[number],
    { kind, id }: { readonly kind: 'tow' | 'violation'; readonly id: string },
  ): Promise<ApiCallRefusal | null> {
    const call = { actor, idempotencyKey: `${idempotencyKey}-${decision}` };
    const onTow = { ...call, params: { towing_reference_id: id } };
    const onViolation = { ...call, params: { violation_id: id } };
    const body = { reason: form.get('reason') ?? '' };
    const answers: Readonly<Record<string, () => Promise<ApiAnswer<unknown>>>> = {
      'tow send': () => api.call(ROUTES.sendWithheldTow, onTow),
      'tow decline': () => api.call(ROUTES.declineWithheldTow, { ...onTow, body }),
      'violation send': () => api.call(ROUTES.sendWithheldViolation, onViolation),
      'violation decline': () => api.call(ROUTES.declineWithheldViolation, { ...onViolation, body }),
    };
    const answer = await answers[`${kind} ${decision}`]?.();
    return answer === undefined || answer.ok || answer.refusal.code === 'not_held' ? null : answer.refusal;
  }
}
