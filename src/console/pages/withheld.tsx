import type { WithheldCall, WithheldItem, WithheldView } from '../../contracts/outbox/withheld';
import { memberNamed, recordNamed, type RecordName } from '../../domain/outbox/outbox-record';
import { maskedJson } from '../mask';
import { PAGES, towPath, violationPath } from '../page-table';
import { ReasonField } from '../parts/decisions';
import { PostForm } from '../parts/form';
import { ModeSwitch } from '../parts/mode-switch';
import { OpsPaging, Table, Tabs } from '../parts/ops';
import { Problem } from '../parts/problem';
import { Age, Empty, Plate, Ref, Timestamp } from '../parts/text';
import { ROUTES } from '../../contracts/operator-routes';
import type { ApiAnswer, ApiCallRefusal } from '../../workflow/operator-port';
import { page, redirect, type FormFailure, type Pages, type PageTools, type PageVisit, type PostedForm } from '../page';
import { bodyOf } from '../forms';
import { submit } from '../api-calls';
import { oneOf, type Viewer } from '../viewer';

const ROWS = '50';
const DECISIONS = ['send', 'decline'] as const;

const NOTHING_TICKED: ApiCallRefusal = {
  httpStatus: 422,
  code: 'nothing_ticked',
  message: 'No tow or violation is chosen.',
  details: [],
  retryAfterMs: null,
};

/** What would have been sent, and the decisions about it. */
export function serveWithheld(pages: Pages, { api }: Pick<PageTools, 'api'>): void {
  const show = async (visit: PageVisit, failure: FormFailure | null = null) => {
    const { viewer, actor } = visit;
    const cursor = visit.query.get('cursor');
    const query = { limit: ROWS, ...(cursor === null ? {} : { cursor }) };
    const answer = await api.call(ROUTES.readWithheld, { actor, query });
    // Only the cursor can be invalid.
    if (!answer.ok) return redirect(PAGES.withheld.path);
    return page(
      viewer.messages.withheld.title,
      <WithheldPage viewer={viewer} view={answer.value} cursor={cursor} failure={failure} />,
      { httpStatus: failure?.refusal.httpStatus ?? 200 },
    );
  };

  pages.get(PAGES.withheld.path, PAGES.withheld.role, (visit) => show(visit));

  pages.post(PAGES.withheld.path, 'ops', async (posted) => {
    const decision = oneOf(DECISIONS, posted.form.get('decision') ?? undefined);
    const chosen = chosenIn(posted.form);
    if (decision === null) return redirect(PAGES.withheld.path);
    if (chosen.length === 0) return show(posted, { form: FORM, refusal: NOTHING_TICKED, entered: posted.form });
    // One after the other: each is one commit with its own key, so that a repeated form has no second effect.
    for (const each of chosen) {
      const refusal = await decide(posted, decision, each);
      if (refusal !== null) return show(posted, { form: FORM, refusal, entered: posted.form });
    }
    return redirect(PAGES.withheld.path, decision === 'send' ? 'withheld_sent' : 'withheld_declined');
  });

  pages.post(`${PAGES.withheld.path}/mode`, 'ops', async (posted) =>
    submit(api, posted, {
      route: ROUTES.changeMode,
      form: 'mode',
      body: bodyOf(posted.form, { only: ['mode', 'reason'] }),
      next: PAGES.withheld.path,
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

const FORM = 'withheld';

/** The tows and violations that were chosen in the form. */
function chosenIn(form: URLSearchParams): readonly RecordName[] {
  return form.getAll('chosen').map(recordNamed);
}

interface WithheldProps {
  readonly viewer: Viewer;
  readonly view: WithheldView;
  readonly cursor: string | null;
  readonly failure: FormFailure | null;
}

/** What would have been sent, oldest first; ops chooses what is sent after all. */
function WithheldPage({ viewer, view, cursor, failure }: WithheldProps) {
  const messages = viewer.messages.withheld;
  const { mode, held, items } = view;
  return (
    <>
      <h1>{messages.title}</h1>
      <Tabs viewer={viewer} here={PAGES.withheld.path} />
      <section class="card" aria-label={messages.title}>
        <p>
          <strong>{mode.state === 'live' ? messages.off : messages.on}</strong>{' '}
          {mode.since !== null && (
            <span class="muted">
              {viewer.messages.withheld.heads.since} <Age viewer={viewer} since={mode.since} />
            </span>
          )}
        </p>
        <p>{mode.state === 'live' ? messages.offHint : messages.onHint}</p>
        <ModeSwitch viewer={viewer} mode={mode} failure={failure} />
        <p>
          {mode.state === 'live' ? messages.held({ count: held }) : messages.recorded({ count: held })}{' '}
          <a href={ROUTES.exportWithheld.path}>{messages.csv}</a>
        </p>
      </section>
      {items.length === 0 ? (
        <Empty title={messages.none} hint={messages.noneHint} />
      ) : (
        <Choice viewer={viewer} view={view} cursor={cursor} failure={failure} />
      )}
      <OpsPaging viewer={viewer} path={PAGES.withheld.path} cursor={cursor} nextCursor={view.next_cursor} />
    </>
  );
}

/**
 * The list, in a form for ops. The button to decline comes first: Enter in a field presses the first button of a form, and
 * what was sent cannot be taken back.
 */
function Choice({ viewer, view, cursor, failure }: WithheldProps) {
  const messages = viewer.messages.withheld;
  const list = <Items viewer={viewer} items={view.items} chosen={failure?.entered.getAll('chosen') ?? []} />;
  if (!viewer.may('ops')) return list;
  // The address of the shown page, so that a refusal shows the same rows again.
  const address = cursor === null ? PAGES.withheld.path : `${PAGES.withheld.path}?cursor=${encodeURIComponent(cursor)}`;
  return (
    <PostForm viewer={viewer} action={address} label={messages.choose}>
      <Problem viewer={viewer} failure={failure} form={FORM} />
      {list}
      <div class="card">
        <p>{messages.chooseHint}</p>
        <ReasonField
          viewer={viewer}
          form={FORM}
          label={messages.reason}
          hint={messages.reasonHint}
          autocomplete="off"
          failure={failure}
        />
        <p>
          <button class="danger" name="decision" value="decline">
            {messages.decline}
          </button>
        </p>
        <p>
          <button class="main" name="decision" value="send" disabled={view.mode.state !== 'live'}>
            {messages.send}
          </button>
        </p>
      </div>
    </PostForm>
  );
}

function Items({
  viewer,
  items,
  chosen,
}: {
  viewer: Viewer;
  items: readonly WithheldItem[];
  chosen: readonly string[];
}) {
  const { heads, table } = viewer.messages.withheld;
  return (
    <Table
      caption={table}
      heads={[heads.subject, viewer.messages.terms.plate, viewer.messages.terms.state, heads.since, heads.calls]}
      rows={items.map((item, at) => ({
        id: `withheld-${at + 1}`,
        cells: [
          <Subject viewer={viewer} item={item} at={at + 1} isChosen={chosen.includes(memberNamed(item))} />,
          item.plate_number === null ? '' : <Plate plate={item.plate_number} />,
          stateText(viewer, item),
          <Timestamp viewer={viewer} at={item.since} />,
          <Calls viewer={viewer} item={item} />,
        ],
      }))}
    />
  );
}

function Subject({
  viewer,
  item,
  at,
  isChosen,
}: {
  viewer: Viewer;
  item: WithheldItem;
  at: number;
  isChosen: boolean;
}) {
  const { messages } = viewer;
  const { kind, id } = item;
  const link = (
    <a href={kind === 'tow' ? towPath(id) : violationPath(id)}>
      <Ref>{id}</Ref>
    </a>
  );
  if (!viewer.may('ops')) return link;
  const label = `${messages.audit.on[kind === 'tow' ? 'towing_reference_id' : 'violation_id']} ${id}`;
  return (
    <span class="row">
      <input
        type="checkbox"
        name="chosen"
        id={`withheld-chosen-${at}`}
        value={memberNamed(item)}
        checked={isChosen}
        aria-label={label}
      />
      {link}
    </span>
  );
}

function stateText({ messages }: Viewer, { kind, state }: WithheldItem): string {
  const texts: Readonly<Record<string, string>> =
    kind === 'tow' ? messages.terms.towStates : messages.terms.violationStates;
  return texts[state] ?? state;
}

/** The calls in their order; the body of each is folded and masked. */
function Calls({ viewer, item }: { viewer: Viewer; item: WithheldItem }) {
  const { messages } = viewer;
  if (item.calls.length === 0) return <span class="muted">{messages.withheld.noCalls}</span>;
  const known = item.plate_number === null ? [] : [item.plate_number];
  return (
    <ol>
      {item.calls.map((call) => (
        <li>
          <Call viewer={viewer} call={call} known={known} />
        </li>
      ))}
    </ol>
  );
}

function Call({ viewer, call, known }: { viewer: Viewer; call: WithheldCall; known: readonly string[] }) {
  const { withheld, terms } = viewer.messages;
  return (
    <details>
      <summary>
        {terms.operations[call.operation]}{' '}
        <span class="muted">
          <Timestamp viewer={viewer} at={call.recorded_at} />
        </span>
      </summary>
      <p>
        <bdi dir="ltr" class="ref long">{`${call.method} ${call.address}`}</bdi>
      </p>
      <pre tabindex={0} dir="ltr">
        {maskedJson(call.body, known)}
      </pre>
      {call.images.length > 0 && <p class="muted">{withheld.images({ count: call.images.length })}</p>}
    </details>
  );
}
