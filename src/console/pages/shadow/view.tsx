import type { WithheldCall, WithheldItem, WithheldView } from '../../../contracts/outbox/withheld';
import { memberNamed, recordNamed, type RecordName } from '../../../domain/outbox/outbox-record';
import { maskedJson } from '../../mask';
import type { FormFailure } from '../../page';
import { PAGES, towPath, violationPath } from '../../page-table';
import { ReasonField } from '../../parts/decisions';
import { PostForm } from '../../parts/form';
import { ModeSwitch } from '../../parts/mode-switch';
import { OpsPaging, Table, Tabs } from '../../parts/ops';
import { Problem } from '../../parts/problem';
import { Age, Empty, Plate, Ref, Timestamp } from '../../parts/text';
import type { Viewer } from '../../viewer';

export const FORM = 'shadow';

/** The tows and violations that were chosen in the form. */
export function chosenIn(form: URLSearchParams): readonly RecordName[] {
  return form.getAll('chosen').map(recordNamed);
}

interface ShadowProps {
  readonly viewer: Viewer;
  readonly view: WithheldView;
  readonly cursor: string | null;
  readonly failure: FormFailure | null;
}

/** What would have been sent, oldest first; ops chooses what is sent after all. */
export function ShadowPage({ viewer, view, cursor, failure }: ShadowProps) {
  const messages = viewer.messages.shadow;
  const { mode, held, items } = view;
  return (
    <>
      <h1>{messages.title}</h1>
      <Tabs viewer={viewer} here={PAGES.shadow.path} />
      <section class="card" aria-label={messages.title}>
        <p>
          <strong>{mode.state === 'shadow' ? messages.on : messages.off}</strong>{' '}
          {mode.since !== null && (
            <span class="muted">
              {viewer.messages.shadow.heads.since} <Age viewer={viewer} since={mode.since} />
            </span>
          )}
        </p>
        <p>{mode.state === 'shadow' ? messages.onHint : messages.offHint}</p>
        <ModeSwitch viewer={viewer} mode={mode} failure={failure} />
        <p>
          {mode.state === 'shadow' ? messages.recorded({ count: held }) : messages.held({ count: held })}{' '}
          <a href="/api/shadow.csv">{messages.csv}</a>
        </p>
      </section>
      {items.length === 0 ? (
        <Empty title={messages.none} hint={messages.noneHint} />
      ) : (
        <Choice viewer={viewer} view={view} cursor={cursor} failure={failure} />
      )}
      <OpsPaging viewer={viewer} path={PAGES.shadow.path} cursor={cursor} nextCursor={view.next_cursor} />
    </>
  );
}

/**
 * The list, in a form for ops. The button to decline comes first: Enter in a field presses the first button of a form, and
 * what was sent cannot be taken back.
 */
function Choice({ viewer, view, cursor, failure }: ShadowProps) {
  const messages = viewer.messages.shadow;
  const list = <Items viewer={viewer} items={view.items} chosen={failure?.entered.getAll('chosen') ?? []} />;
  if (!viewer.may('ops')) return list;
  // The address of the shown page, so that a refusal shows the same rows again.
  const address = cursor === null ? PAGES.shadow.path : `${PAGES.shadow.path}?cursor=${encodeURIComponent(cursor)}`;
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
          <button class="main" name="decision" value="send" disabled={view.mode.state === 'shadow'}>
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
  const { heads, table } = viewer.messages.shadow;
  return (
    <Table
      caption={table}
      heads={[heads.subject, viewer.messages.terms.plate, viewer.messages.terms.state, heads.since, heads.calls]}
      rows={items.map((item, at) => ({
        id: `shadow-${at + 1}`,
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
        id={`shadow-chosen-${at}`}
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
  if (item.calls.length === 0) return <span class="muted">{messages.shadow.noCalls}</span>;
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
  const { shadow, terms } = viewer.messages;
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
      {call.images.length > 0 && <p class="muted">{shadow.images({ count: call.images.length })}</p>}
    </details>
  );
}
