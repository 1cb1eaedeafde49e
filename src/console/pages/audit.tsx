import { ROUTES } from '../../contracts/operator-routes';
import { redirect, page, type Pages, type PageTools } from '../page';
import { differencePath, PAGES, towPath, violationPath } from '../page-table';
import { valueUnder } from '../messages';
import type { AuditView } from '../../contracts/ops/audit';
import { Field } from '../parts/form';
import { Empty, Timestamp, UserText, Ref } from '../parts/text';
import { type Viewer, oneOf } from '../viewer';
import { OpsPaging, Table, Tabs } from '../parts/ops';
import { AUDIT_ACTIONS, isPerson, type AuditSubject } from '../../domain/ops/audit';
import type { Json } from '../../domain/vocabulary';

const PATH = '/ops/audit';
const ROWS = '50';

/** What people did, newest first. */
export function serveAudit(pages: Pages, { api }: Pick<PageTools, 'api'>): void {
  pages.get(PAGES.audit.path, PAGES.audit.role, async ({ viewer, actor, query }) => {
    const tow = query.get('tow')?.trim() ?? '';
    const cursor = query.get('cursor');
    const answer = await api.call(ROUTES.listAudit, {
      actor,
      query: {
        limit: ROWS,
        ...(tow === '' ? {} : { towing_reference_id: tow }),
        ...(cursor === null ? {} : { cursor }),
      },
    });
    // The cursor or the reference is invalid.
    if (!answer.ok) return redirect(PATH);
    const { items, next_cursor: nextCursor } = answer.value;
    return page(
      viewer.messages.ops.tab.audit,
      <AuditPage viewer={viewer} entries={items} tow={tow} cursor={cursor} nextCursor={nextCursor} />,
    );
  });
}

interface AuditProps {
  readonly viewer: Viewer;
  readonly entries: readonly AuditView[];
  /** '' for all tows. */
  readonly tow: string;
  readonly cursor: string | null;
  readonly nextCursor: string | null;
}

/** Who did what, to what, when and why. */
function AuditPage(props: AuditProps) {
  const { viewer, entries, tow, cursor, nextCursor } = props;
  const messages = viewer.messages.audit;
  return (
    <>
      <h1>{viewer.messages.ops.tab.audit}</h1>
      <Tabs viewer={viewer} here="/ops/audit" />
      <p>{messages.intro}</p>
      <Filter viewer={viewer} tow={tow} />
      {entries.length === 0 ? (
        <Nothing viewer={viewer} isOfTow={tow !== ''} hasNext={nextCursor !== null} />
      ) : (
        <Entries viewer={viewer} entries={entries} />
      )}
      <OpsPaging
        viewer={viewer}
        path="/ops/audit"
        query={tow === '' ? {} : { tow }}
        cursor={cursor}
        nextCursor={nextCursor}
      />
      <HowToVerify viewer={viewer} />
    </>
  );
}

function Filter({ viewer, tow }: Pick<AuditProps, 'viewer' | 'tow'>) {
  const { audit: messages, common } = viewer.messages;
  return (
    <search>
      <form method="get" action="/ops/audit" class="audit-filter">
        <Field
          viewer={viewer}
          form="audit"
          name="tow"
          label={messages.filter}
          hint={messages.filterHint}
          value={tow}
          type="search"
          maxLength={200}
          isLatin
          isRequired
        />
        <div class="row">
          <button>{common.show}</button>
          {tow !== '' && <a href="/ops/audit">{messages.clear}</a>}
        </div>
      </form>
    </search>
  );
}

function Nothing({ viewer, isOfTow, hasNext }: { viewer: Viewer; isOfTow: boolean; hasNext: boolean }) {
  const messages = viewer.messages.audit;
  if (!isOfTow) return <Empty title={messages.none} />;
  const hint = hasNext ? messages.noneOfTowHint : messages.noneOfTowHintLast;
  return <Empty title={messages.noneOfTow} hint={hint} />;
}

function Entries({ viewer, entries }: Pick<AuditProps, 'viewer' | 'entries'>) {
  const messages = viewer.messages.audit;
  const { heads } = messages;
  return (
    <Table
      caption={messages.table}
      heads={[heads.at, heads.by, heads.action, heads.on, heads.why]}
      rows={entries.map((entry) => ({
        id: `entry-${entry.seq}`,
        cells: [
          <Timestamp viewer={viewer} at={entry.at} />,
          <>
            <UserText>{entry.by}</UserText> <span class="muted">({viewer.messages.terms.roles[entry.role]})</span>
            {/* People choose their names at the provider; the id tells two of one name apart. */}
            {isPerson({ id: entry.by_id }) && (
              <small class="muted">
                {' '}
                <Ref>{entry.by_id}</Ref>
              </small>
            )}
          </>,
          <>
            {actionText(viewer, entry.action)}
            <Details viewer={viewer} what={entry.what} />
          </>,
          <Subject viewer={viewer} on={entry.on} />,
          entry.why === null ? <span class="muted">{messages.noWhy}</span> : <UserText>{entry.why}</UserText>,
        ],
      }))}
    />
  );
}

function HowToVerify({ viewer }: { viewer: Viewer }) {
  const messages = viewer.messages.audit;
  return (
    <details class="card verify">
      <summary>{messages.verify}</summary>
      <p>{messages.verifyHow}</p>
      <pre tabindex={0}>towhook audit verify</pre>
      <p>{messages.verifyThen}</p>
      <pre tabindex={0}>{'towhook audit verify <seq>:<hash>'}</pre>
    </details>
  );
}

/** What an entry of the audit says, in words. */

/** The action as text; an unknown action by its name. */
function actionText({ messages }: Viewer, action: string) {
  const known = oneOf(AUDIT_ACTIONS, action);
  return known === null ? <Ref>{action}</Ref> : messages.audit.actions[known];
}

/** The subjects in the order of the page, with the addresses of their pages. */
const SUBJECTS = {
  towing_reference_id: towPath,
  violation_id: violationPath,
  report_id: null,
  delivery_id: (id) => `/ops/deliveries/${encodeURIComponent(id)}`,
  difference_id: differencePath,
  task_id: null,
  hold_id: null,
  photo_id: null,
  queue: null,
  operation: null,
  key_id: null,
  subscription_id: null,
} as const satisfies Record<keyof AuditSubject, ((id: string) => string) | null>;

/** The subject of the action. */
function Subject({ viewer, on }: { viewer: Viewer; on: AuditView['on'] }) {
  const labels: Readonly<Record<keyof AuditSubject, string>> = viewer.messages.audit.on;
  const named = Object.entries(SUBJECTS).flatMap(([name, pathOf]) => {
    const id = valueUnder(on, name);
    return id === null || id === undefined ? [] : [{ label: valueUnder(labels, name), id, pathOf }];
  });
  return (
    <ul class="subjects">
      {named.map(({ label, id, pathOf }) => (
        <li>
          {label}{' '}
          {pathOf === null ? (
            <Ref>{id}</Ref>
          ) : (
            <a href={pathOf(id)}>
              <Ref>{id}</Ref>
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Details of the action. */
function Details({ viewer, what }: { viewer: Viewer; what: AuditView['what'] }) {
  const { what: messages } = viewer.messages.audit;
  const facts = Object.entries(what).filter(([, value]) => value !== null);
  if (facts.length === 0) return null;
  const known = new Map<string, string>(Object.entries(messages));
  return (
    <p class="muted">
      {facts.map(([name, value], at) => (
        <>
          {at > 0 && ' · '}
          {known.get(name) ?? <Ref>{name}</Ref>}: <bdi>{detailText(viewer, name, value)}</bdi>
        </>
      ))}
    </p>
  );
}

function detailText({ formats, messages }: Viewer, name: string, value: Json | undefined): string {
  if (Array.isArray(value)) return value.map((each) => textOf(each)).join(', ');
  const text = textOf(value);
  switch (name) {
    case 'occurred_at':
      return formats.timestamp(text);
    case 'granted_role':
      return valueUnder(messages.terms.roles, text) ?? text;
    case 'channel':
      return valueUnder(messages.notifications.channels, text) ?? text;
    default:
      return text;
  }
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
