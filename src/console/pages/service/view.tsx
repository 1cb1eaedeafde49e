import type { DifferenceView } from '../../../contracts/service/differences';
import type { SendingView } from '../../../contracts/operator';
import type { ServiceView } from '../../../contracts/service/seen-service';
import { differencePath, PAGES } from '../../page-table';
import { Table, Tabs, ActionForm } from '../../parts/ops';
import { Empty, Ref, Timestamp, Badge, Fact, UserText } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { Messages, Rules, sourceName } from './messages';
import type { FormFailure } from '../../page';

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

export const EXPECT_FORM = 'expect';
export const JUDGE_FORM = 'judge';

interface KindProps {
  readonly viewer: Viewer;
  readonly kind: DifferenceView;
  readonly failure: FormFailure | null;
}

/** One kind of difference: what differs, whether it is expected, and the webhooks that wait because of it. */
export function KindPage({ viewer, kind, failure }: KindProps) {
  const messages = viewer.messages.differences;
  const isOpen = kind.task_id !== null;
  return (
    <div class="service">
      <h1>{messages.kindTitle}</h1>
      <Tabs viewer={viewer} here={PAGES.service.path} />
      <section class="card" aria-label={messages.kindTitle}>
        <div class="head">
          <h2>{sourceName(viewer, kind)}</h2>
          <DecisionBadge viewer={viewer} kind={kind} />
        </div>
        <Rules viewer={viewer} rules={kind.rules} />
        <dl class="facts">
          <Fact label={messages.count}>{viewer.formats.number(kind.count)}</Fact>
          <Fact label={messages.firstSeen}>
            <Timestamp viewer={viewer} at={kind.first_seen_at} />
          </Fact>
          <Fact label={messages.lastSeen}>
            <Timestamp viewer={viewer} at={kind.last_seen_at} />
          </Fact>
          {kind.expected_by !== null && (
            <Fact label={messages.decidedBy}>
              <UserText>{kind.expected_by}</UserText>
            </Fact>
          )}
          {kind.reason !== null && (
            <Fact label={viewer.messages.common.reason}>
              <UserText>{kind.reason}</UserText>
            </Fact>
          )}
        </dl>
        <details>
          <summary>{messages.example}</summary>
          <ul class="plain-list">
            {kind.example.map(({ field, type }) => (
              <li>
                <Ref>{`${field}: ${type}`}</Ref>
              </li>
            ))}
          </ul>
        </details>
        {isOpen && <p>{kind.source === 'webhook' ? messages.webhookAdvice : messages.answerAdvice}</p>}
        {isOpen && viewer.may('ops') && (
          <ActionForm
            viewer={viewer}
            form={EXPECT_FORM}
            action={`${differencePath(kind.id)}/expect`}
            label={viewer.messages.terms.actions.expect}
            about={viewer.messages.terms.actions.expect}
            hint={kind.source === 'answer' ? viewer.messages.tasks.expectHint : viewer.messages.judging.expectHint}
            hasReason
            failure={failure}
          />
        )}
      </section>
      {kind.source === 'webhook' && !kind.tolerated && <Waiting viewer={viewer} kind={kind} failure={failure} />}
    </div>
  );
}

/** The webhooks that wait with a kind of difference, and how to judge them again. */
function Waiting({ viewer, kind: { id, waiting: count }, failure }: KindProps) {
  const messages = viewer.messages.judging;
  return (
    <section class="card stack" aria-labelledby="judging-title">
      <h2 id="judging-title">{messages.title({ count })}</h2>
      {count > 0 && (
        <p>
          <a href={`/ops/deliveries?difference=${encodeURIComponent(id)}`}>{messages.all}</a>
        </p>
      )}
      {count > 0 && viewer.may('ops') && (
        <ActionForm
          viewer={viewer}
          form={JUDGE_FORM}
          action={`${differencePath(id)}/judge`}
          label={messages.judge}
          about={messages.judge}
          hint={messages.judgeHint}
          hasReason
          failure={failure}
        />
      )}
    </section>
  );
}

function DecisionBadge({ viewer, kind }: { viewer: Viewer; kind: DifferenceView }) {
  const { decisions } = viewer.messages.differences;
  if (kind.tolerated) return <Badge tone="good">{decisions.tolerated}</Badge>;
  return kind.task_id === null ? (
    <Badge tone="good">{decisions.expected}</Badge>
  ) : (
    <Badge tone="wait">{decisions.open}</Badge>
  );
}
