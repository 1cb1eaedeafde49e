import type { DifferenceView } from '../../../contracts/differences';
import type { JudgementPreview } from '../../../contracts/judgements';
import type { FormFailure } from '../../page';
import { differencePath, PAGES } from '../../page-table';
import { ActionForm, Tabs } from '../../parts/ops';
import { Badge, Fact, Ref, Timestamp, UserText } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { Judging } from './judge';
import { Rules, sourceName } from './rules';

export const EXPECT_FORM = 'expect';

interface KindProps {
  readonly viewer: Viewer;
  readonly kind: DifferenceView;
  /** What judging its webhooks again would do; null for a difference that keeps none. */
  readonly preview: JudgementPreview | null;
  readonly failure: FormFailure | null;
}

/** One kind of difference: what differs, whether it is expected, and the webhooks that wait because of it. */
export function KindPage({ viewer, kind, preview, failure }: KindProps) {
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
            <Fact label={messages.reason}>
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
      {preview !== null && <Judging viewer={viewer} differenceId={kind.id} preview={preview} failure={failure} />}
    </div>
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
