import type { DifferenceView } from '../../../contracts/service/differences';
import type { FormFailure } from '../../page';
import { differencePath, PAGES } from '../../page-table';
import { ActionForm, Tabs } from '../../parts/ops';
import { Badge, Fact, Ref, Timestamp, UserText } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { Rules, sourceName } from './messages';

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

export function DecisionBadge({ viewer, kind }: { viewer: Viewer; kind: DifferenceView }) {
  const { decisions } = viewer.messages.differences;
  if (kind.tolerated) return <Badge tone="good">{decisions.tolerated}</Badge>;
  return kind.task_id === null ? (
    <Badge tone="good">{decisions.expected}</Badge>
  ) : (
    <Badge tone="wait">{decisions.open}</Badge>
  );
}
