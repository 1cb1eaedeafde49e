import type { TowView } from '../../../contracts/operator';
import type { Report } from '../../../contracts/records';
import { isAnswerQuestioned } from '../../../domain/questioned-answer';
import { Attempts } from '../../parts/attempts';
import { ReportState } from '../../parts/report-state';
import { Moment, Written } from '../../parts/text';
import { LastWords, WhyReport } from '../../parts/why';
import { DecideReport } from './decide';
import { Wire } from './wire';
import { waitingOf, type TowModel } from './model';

/** Everything owed to the service, in the order in which it leaves. */
export function Reports({ model }: { model: TowModel }) {
  const { viewer, record, view } = model;
  const words = viewer.words.towReports;
  return (
    <section id="reports" aria-labelledby="reports-title">
      <h2 id="reports-title">{viewer.words.tow.sections.reports}</h2>
      {view.reports.length === 0 && <p class="card muted">{words.none}</p>}
      {view.reports.map((shown) => {
        const report = record.reports.find(({ id }) => id === shown.id);
        return report && <ReportCard model={model} report={report} shown={shown} />;
      })}
    </section>
  );
}

function ReportCard({ model, report, shown }: { model: TowModel; report: Report; shown: TowView['reports'][number] }) {
  const { viewer } = model;
  const { words } = viewer;
  const waiting = waitingOf(model, report);
  return (
    <article class="card tow-report" id={`report-${report.id}`} aria-labelledby={`report-${report.id}-title`}>
      <div class="head">
        <h3 id={`report-${report.id}-title`}>{words.terms.facts[report.kind]}</h3>
        <p class="row">
          <span class="muted">{words.attempts.count(report.attempts)}</span>
          <ReportState viewer={viewer} report={shown} />
        </p>
      </div>
      {waiting !== null && (
        <p class="tow-report-why">
          <WhyReport viewer={viewer} waiting={waiting} />
        </p>
      )}
      <ReportFacts model={model} report={report} shown={shown} />
      <details id={`wire-${report.id}`}>
        <summary>{words.towReports.wire}</summary>
        <div class="folded-body">
          <Wire model={model} report={report} />
          <h4>{words.attempts.title}</h4>
          <Attempts viewer={viewer} log={report.log} count={report.attempts} />
        </div>
      </details>
      {!isAsked(model, report) && <DecideReport model={model} report={report} />}
    </article>
  );
}

/** True when a task asks about the report: its forms then stand with the task. */
export function isAsked({ record }: TowModel, { id }: Report): boolean {
  const isUnsettledAsked = record.tasks.some(({ report_id, type }) => report_id === id && type !== 'answer_broken');
  return isUnsettledAsked || isAnswerQuestioned(id, record.tasks);
}

function ReportFacts({
  model: { viewer },
  report,
  shown,
}: {
  model: TowModel;
  report: Report;
  shown: TowView['reports'][number];
}) {
  const { words } = viewer;
  const rows = [
    [words.towReports.created, shown.created_at],
    [words.towReports.delivered, shown.delivered_at],
    [words.towReports.nextTry, shown.next_attempt_at],
    [words.towReports.giveUp, shown.give_up_at],
  ] as const;
  return (
    <dl class="inline-facts">
      {rows.map(
        ([label, at]) =>
          at !== null && (
            <div>
              <dt>{label}</dt>
              <dd>
                <Moment viewer={viewer} at={at} />
              </dd>
            </div>
          ),
      )}
      {report.lastError !== null && (
        <div>
          <dt>{words.towReports.lastError}</dt>
          <dd>
            <LastWords error={report.lastError} />
          </dd>
        </div>
      )}
      {report.reason !== null && (
        <div>
          <dt>{words.towReports.reason}</dt>
          <dd>
            <Written>{report.reason}</Written>
          </dd>
        </div>
      )}
    </dl>
  );
}
