import type { DifferenceView } from '../../../contracts/service/differences';
import type { SendingView } from '../../../contracts/operator';
import type { ServiceView } from '../../../contracts/service/seen-service';
import { differencePath, PAGES } from '../../page-table';
import { Table, Tabs } from '../../parts/ops';
import { Empty, Ref, Timestamp } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { DecisionBadge } from './kind';
import { Messages, Rules, sourceName } from './messages';

type SendingBudgets = SendingView['budgets'];

interface ServiceProps {
  readonly viewer: Viewer;
  readonly service: ServiceView;
  readonly budgets: SendingBudgets;
}

/** The service beside its document: differences, calls, and the fields of its messages. */
export function ServicePage({ viewer, service, budgets }: ServiceProps) {
  const messages = viewer.messages.differences;
  return (
    <div class="service">
      <h1>{messages.title}</h1>
      <Tabs viewer={viewer} here={PAGES.service.path} />
      <p class="muted">{messages.intro}</p>
      <Kinds viewer={viewer} kinds={service.differences} />
      <Calls viewer={viewer} operations={service.operations} budgets={budgets} />
      <Messages viewer={viewer} messages={service.messages} />
    </div>
  );
}

function Kinds({ viewer, kinds }: { viewer: Viewer; kinds: readonly DifferenceView[] }) {
  const messages = viewer.messages.differences;
  const { heads } = messages;
  if (kinds.length === 0) return <Empty title={messages.none} hint={messages.noneHint} />;
  const openFirst = kinds.toSorted((a, b) => Number(b.task_id !== null) - Number(a.task_id !== null));
  const rows = openFirst.map((kind) => ({
    id: `difference-${kind.id}`,
    cells: [
      <a href={differencePath(kind.id)} data-row-link>
        {sourceName(viewer, kind)}
      </a>,
      <Rules viewer={viewer} rules={kind.rules} />,
      <DecisionBadge viewer={viewer} kind={kind} />,
      viewer.formats.number(kind.count),
      <Timestamp viewer={viewer} at={kind.first_seen_at} />,
      <Timestamp viewer={viewer} at={kind.last_seen_at} />,
    ],
  }));
  return (
    <section aria-labelledby="kinds-title">
      <h2 id="kinds-title">{messages.kinds}</h2>
      <Table
        caption={messages.kinds}
        heads={[
          heads.source,
          heads.rules,
          viewer.messages.runs.action,
          messages.count,
          messages.firstSeen,
          messages.lastSeen,
        ]}
        rows={rows}
      />
    </section>
  );
}

interface CallsProps {
  readonly viewer: Viewer;
  readonly operations: ServiceView['operations'];
  readonly budgets: SendingBudgets;
}

/** The calls of about the last hour: statuses, latencies, and the rate limit that they count against. */
function Calls({ viewer, operations, budgets }: CallsProps) {
  const messages = viewer.messages.differences;
  const { heads } = messages;
  const called = operations.filter(({ calls }) => calls > 0);
  const rows = called.map(({ operation, calls, statuses, p50_ms: p50, p95_ms: p95, budget }) => ({
    id: `calls-${operation}`,
    cells: [
      <Ref>{operation}</Ref>,
      viewer.formats.number(calls),
      <ul class="plain-list">
        {statuses.map(({ status, count }) => (
          <li>
            {status === 'none' ? viewer.messages.attempts.noStatus : <Ref>{status}</Ref>}:{' '}
            {viewer.formats.number(count)}
          </li>
        ))}
      </ul>,
      p50 === null ? '' : messages.ms({ ms: p50 }),
      p95 === null ? '' : messages.ms({ ms: p95 }),
      <Limit viewer={viewer} budget={budgets.find(({ name }) => name === budget)} />,
    ],
  }));
  return (
    <section aria-labelledby="calls-title">
      <h2 id="calls-title">{messages.calls}</h2>
      {rows.length === 0 ? (
        <Empty title={messages.noCalls} />
      ) : (
        <Table
          caption={messages.calls}
          heads={[heads.operation, heads.calls, heads.statuses, heads.p50, heads.p95, heads.limit]}
          rows={rows}
        />
      )}
    </section>
  );
}

/** A rate limit: the one that counts, and the one that the service announced last. */
function Limit({ viewer, budget }: { viewer: Viewer; budget: SendingBudgets[number] | undefined }) {
  if (!budget) return null;
  const { differences, ops } = viewer.messages;
  const { name, limit, announced_per_minute: announced } = budget;
  return (
    <>
      <a href="/ops#sending">{ops.sending.budgetNames[name]}</a>{' '}
      {limit > 0 && <span class="muted">{differences.perMinute({ limit })}</span>}{' '}
      {announced !== null && <span class="muted">{differences.announced({ limit: announced })}</span>}
    </>
  );
}
