import type { ReportView } from '../../../contracts/operator';
import { Attempts } from '../../parts/attempts';
import { ReportState } from '../../parts/states';
import { Fact, Timestamp, UserText } from '../../parts/text';
import { causeOf, ErrorText } from '../../parts/error-text';
import { WhyReport } from '../../parts/why';
import { DecideReport } from './decide';
import { waitingOf, type TowModel } from './model';
import { OPERATIONS } from '../../../contracts/service/operations';
import { maskedBody, maskedJson, maskedText } from '../../mask';

/** The reports of the tow in their order of delivery. */
export function Reports({ model }: { model: TowModel }) {
  const { viewer, view } = model;
  const messages = viewer.messages.towReports;
  return (
    <section id="reports" aria-labelledby="reports-title">
      <h2 id="reports-title">{viewer.messages.tow.sections.reports}</h2>
      {view.reports.length === 0 && <p class="card muted">{messages.none}</p>}
      {view.reports.map((report) => (
        <ReportCard model={model} report={report} />
      ))}
    </section>
  );
}

function ReportCard({ model, report }: { model: TowModel; report: ReportView }) {
  const { viewer } = model;
  const { messages } = viewer;
  const waiting = waitingOf(model, report);
  return (
    <article class="card tow-report" id={`report-${report.id}`} aria-labelledby={`report-${report.id}-title`}>
      <div class="head">
        <h3 id={`report-${report.id}-title`}>{messages.terms.operations[report.kind]}</h3>
        <p class="row">
          <span class="muted">{messages.attempts.count({ count: report.attempts })}</span>
          <ReportState viewer={viewer} report={report} />
        </p>
      </div>
      {waiting !== null && (
        <p class="tow-report-why">
          <WhyReport viewer={viewer} waiting={waiting} />
        </p>
      )}
      <ReportFacts model={model} report={report} hasNextTry={waiting?.kind === 'next_try'} />
      <details id={`wire-${report.id}`}>
        <summary>{messages.towReports.wire}</summary>
        <div class="folded-body">
          <Wire model={model} report={report} />
          <h4>{messages.attempts.title}</h4>
          <Attempts viewer={viewer} log={report.log} count={report.attempts} />
        </div>
      </details>
      {!isAsked(model, report) && <DecideReport model={model} report={report} />}
    </article>
  );
}

/** True if a task shows the decision forms of the report. */
function isAsked({ view }: TowModel, { id }: ReportView): boolean {
  return view.tasks.some(({ report_id }) => report_id === id);
}

function ReportFacts({
  model: { viewer },
  report,
  hasNextTry,
}: {
  model: TowModel;
  report: ReportView;
  /** False if it waits for something else than a time, such as a decision of ops. */
  hasNextTry: boolean;
}) {
  const { messages } = viewer;
  const rows = [
    [messages.towReports.created, report.created_at],
    [messages.towReports.delivered, report.delivered_at],
    [messages.towReports.nextTry, hasNextTry ? report.next_attempt_at : null],
    [messages.towReports.giveUp, report.give_up_at],
  ] as const;
  return (
    <dl class="inline-facts">
      {rows.map(
        ([label, at]) =>
          at !== null && (
            <div>
              <Fact label={label}>
                <Timestamp viewer={viewer} at={at} />
              </Fact>
            </div>
          ),
      )}
      {report.last_error !== null && (
        <div>
          <Fact label={messages.towReports.lastError}>
            <ErrorText viewer={viewer} error={report.last_error} />
          </Fact>
        </div>
      )}
      {report.reason !== null && (
        <div>
          <Fact label={messages.common.reason}>
            <UserText>{report.reason}</UserText>
          </Fact>
        </div>
      )}
    </dl>
  );
}

/** The request and the response of a report, without the token and personal data. */
function Wire({ model, report }: { model: TowModel; report: ReportView }) {
  const messages = model.viewer.messages.towReports;
  return (
    <div class="wire">
      <p class="muted">{messages.maskedHint}</p>
      <h4>{messages.request}</h4>
      <pre tabindex={0} aria-label={messages.request}>
        {requestOf(report, model.personal)}
      </pre>
      <h4>{model.viewer.messages.attempts.answer}</h4>
      {report.broken_answer !== null && <p>{messages.brokenAnswer}</p>}
      {report.log.length === 0 ? (
        <p class="muted">{messages.noAnswer}</p>
      ) : (
        <pre tabindex={0} aria-label={model.viewer.messages.attempts.answer}>
          {answerOf(model, report)}
        </pre>
      )}
    </div>
  );
}

/** The request as sent. The base URL is configuration and not shown. */
function requestOf({ kind, body }: ReportView, personal: readonly string[]): string {
  const { method, path } = OPERATIONS[kind];
  const head = [`${method} {base_url}${path}`, 'Authorization: Bearer •••', 'Content-Type: application/json'];
  return `${head.join('\n')}\n\n${maskedJson(body, personal)}`;
}

function answerOf(
  { viewer, personal }: TowModel,
  { log, answer, broken_answer: rawBody, last_error: error }: ReportView,
): string {
  const last = log.at(-1);
  const { http_status: status = null, message = error?.message ?? null } = last ?? {};
  const head = status === null ? viewer.messages.attempts.noStatus : `HTTP ${status}`;
  const cause = causeOf(viewer.messages, { http_status: status, message: message ?? '' });
  const said = message === null || message === 'accepted' ? [] : [maskedText(message, personal)];
  const shown = cause === null ? said : [cause.text, ...said];
  const body = rawBody === null ? answer && maskedJson(answer, personal) : maskedBody(rawBody, personal);
  return [head, ...shown, ...(body === null ? [] : ['', body])].join('\n');
}
