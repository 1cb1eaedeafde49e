import type { DifferenceView, DifferingReport } from '../../../contracts/differences';
import type { JudgementPreview } from '../../../contracts/judgements';
import { countsAsAccepted } from '../../../domain/difference';
import type { FormFailure } from '../../page';
import { differencePath, PAGES, towPath, violationPath } from '../../page-table';
import { PostForm } from '../../parts/form';
import { ActionForm, OpsPaging, Table, Tabs } from '../../parts/ops';
import { Problem } from '../../parts/problem';
import { Badge, Empty, Fact, Ref, Timestamp, UserText } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { Judging } from './judge';
import { Rules, sourceName } from './rules';

export const EXPECT_FORM = 'expect';
export const CLOSE_FORM = 'close';
export const SEND_ALL_FORM = 'send-all';
const SEND_AGAIN = 'retry-';

/** Names the form that sends a report again, so that a refusal is shown there. */
export function sendAgainForm(
  report: Pick<DifferingReport, 'towing_reference_id' | 'report_id' | 'violation_id'>,
): string {
  return `${SEND_AGAIN}${report.violation_id ?? `${report.towing_reference_id}-${report.report_id}`}`;
}

interface KindProps {
  readonly viewer: Viewer;
  readonly kind: DifferenceView;
  readonly reports: readonly DifferingReport[];
  /** What judging its webhooks again would do; null for a difference that keeps none. */
  readonly preview: JudgementPreview | null;
  /** How many reports there are on all pages. */
  readonly count: number;
  readonly paging: { readonly cursor: string | null; readonly nextCursor: string | null };
  readonly failure: FormFailure | null;
}

/** One kind of difference: what differs, the decision, and the reports that may be sent again. */
export function KindPage(props: KindProps) {
  const { viewer, kind, preview, failure } = props;
  const messages = viewer.messages.differences;
  const isOpen = kind.decision === 'open';
  const isExpected = kind.decision === 'expected';
  return (
    <div class="service">
      <h1>{messages.kindTitle}</h1>
      <Tabs viewer={viewer} here={PAGES.service.path} />
      <LostProblem {...props} />
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
          {kind.decided_by !== null && (
            <Fact label={messages.decidedBy}>
              <UserText>{kind.decided_by}</UserText>
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
        {isOpen && <p>{adviceOf(viewer, kind)}</p>}
        {!isExpected && viewer.may('ops') && (
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
        {isOpen && viewer.may('dispatcher') && (
          <ActionForm
            viewer={viewer}
            form={CLOSE_FORM}
            action={`${differencePath(kind.id)}/close`}
            label={messages.close}
            about={messages.close}
            hint={messages.closeHint}
            hasReason
            failure={failure}
          />
        )}
      </section>
      {offersReports(kind) && <Reports {...props} />}
      {preview !== null && <Judging viewer={viewer} differenceId={kind.id} preview={preview} failure={failure} />}
    </div>
  );
}

function offersReports(kind: DifferenceView): boolean {
  return countsAsAccepted(kind) && kind.decision === 'open';
}

/** The refusal to send a report again that this page does not show. The row of a shown report has its own. */
function LostProblem({ viewer, kind, reports, failure }: KindProps) {
  if (failure === null || !failure.form.startsWith(SEND_AGAIN)) return null;
  const isShown = offersReports(kind) && reports.some((report) => sendAgainForm(report) === failure.form);
  return isShown ? null : <Problem viewer={viewer} failure={failure} form={failure.form} />;
}

function adviceOf({ messages: { differences } }: Viewer, kind: DifferenceView): string {
  if (kind.source === 'webhook') return differences.webhookAdvice;
  return countsAsAccepted(kind) ? differences.answerAdvice : differences.unreadAdvice;
}

export function DecisionBadge({ viewer, kind }: { viewer: Viewer; kind: DifferenceView }) {
  const { decisions } = viewer.messages.differences;
  if (kind.tolerated) return <Badge tone="good">{decisions.tolerated}</Badge>;
  return <Badge tone={kind.decision === 'open' ? 'wait' : 'good'}>{decisions[kind.decision]}</Badge>;
}

function Reports({ viewer, kind, reports, count, paging, failure }: KindProps) {
  const messages = viewer.messages.differences;
  const rows = reports.map((report) => ({
    id: sendAgainForm(report),
    cells: [
      <About viewer={viewer} report={report} />,
      <Timestamp viewer={viewer} at={report.accepted_at} />,
      <SendAgain viewer={viewer} kind={kind} report={report} failure={failure} />,
    ],
  }));
  return (
    <section aria-labelledby="reports-title">
      <h2 id="reports-title">{messages.reports({ count })}</h2>
      <p class="muted">{messages.reportsHint}</p>
      {count > 0 && viewer.may('dispatcher') && (
        <ActionForm
          viewer={viewer}
          form={SEND_ALL_FORM}
          action={`${differencePath(kind.id)}/retry-all`}
          label={messages.sendAll}
          about={messages.sendAll}
          hint={messages.sendAllHint}
          hasReason
          failure={failure}
        />
      )}
      {rows.length === 0 ? (
        <Empty title={messages.noReports} />
      ) : (
        <Table
          caption={messages.reportsTable}
          heads={[messages.heads.report, messages.heads.accepted, messages.heads.action]}
          rows={rows}
        />
      )}
      <OpsPaging viewer={viewer} path={differencePath(kind.id)} label={messages.reportsTable} {...paging} />
    </section>
  );
}

function About({ viewer, report }: { viewer: Viewer; report: DifferingReport }) {
  const { terms } = viewer.messages;
  const { violation_id: violation, towing_reference_id: tow, kind } = report;
  if (violation !== null) {
    return (
      <a href={violationPath(violation)} data-row-link>
        {terms.operations.violation} <Ref>{violation}</Ref>
      </a>
    );
  }
  return (
    <a href={towPath(tow ?? '')} data-row-link>
      {kind !== null && terms.facts[kind]} <Ref>{tow ?? ''}</Ref>
    </a>
  );
}

function SendAgain(props: {
  viewer: Viewer;
  kind: DifferenceView;
  report: DifferingReport;
  failure: FormFailure | null;
}) {
  const { viewer, kind, report, failure } = props;
  if (!viewer.may('dispatcher')) return null;
  const { towing_reference_id: tow, report_id: reportId, violation_id: violation } = report;
  const label = viewer.messages.terms.actions.retry;
  return (
    <PostForm viewer={viewer} action={`${differencePath(kind.id)}/retry`} class="inline" question={report.accepted_at}>
      <Problem viewer={viewer} failure={failure} form={sendAgainForm(report)} />
      {Object.entries({ tow, report: reportId, violation }).map(
        ([name, value]) => value !== null && <input type="hidden" name={name} value={value} />,
      )}
      <button type="submit" aria-label={`${label}: ${violation ?? `${tow} ${reportId}`}`}>
        {label}
      </button>
    </PostForm>
  );
}
