import { alarmsOf, isAboutAllCalls, severityOf, type Alarm, type OpsState } from '../../../workflow/ops/alarms';
import type { MetricSeries } from '../../../workflow/ops/metrics-port';
import type { FormFailure } from '../../page';
import type { AlarmSeverity } from '../../../domain/ops/notification-settings';
import { alarmText } from '../../parts/alarm-text';
import { Problem } from '../../parts/problem';
import type { Viewer } from '../../viewer';
import { type Hours, Charts } from './charts';
import { Conservation } from './conservation';
import { Processes, Queues } from './workers';
import { Sending } from './sending';
import { REFUSED_CALLS_PATH, Tabs } from '../../parts/ops';
import { Badge, Age, Countdown, Timestamp } from '../../parts/text';

interface OverviewProps {
  readonly viewer: Viewer;
  readonly known: OpsState;
  readonly failure: FormFailure | null;
}

/** The ops overview. */
export function OverviewPage(props: OverviewProps & { readonly series: MetricSeries; readonly hours: Hours }) {
  const { viewer, known, failure, series, hours } = props;
  return (
    <>
      <div class="head">
        <h1>{viewer.messages.common.ops}</h1>
        {/* Only a script can pause, and only a script shows it. */}
        <button type="button" class="quiet" data-live-pause aria-pressed="false" hidden>
          {viewer.messages.common.pause}
        </button>
      </div>
      <Tabs viewer={viewer} here="/ops" />
      {failure && !hasForm(known, failure.form) && <Problem viewer={viewer} failure={failure} form={failure.form} />}
      <OpsNow {...props} />
      <Charts viewer={viewer} series={series} hours={hours} />
    </>
  );
}

/** False if the form is no longer on the page, because its subject changed meanwhile. */
function hasForm({ sending, queues }: OpsState, form: string): boolean {
  const paused = sending.operations.filter(({ state }) => state === 'paused');
  const forms = [...paused.map(({ operation }) => `resume-${operation}`), ...queues.map(({ name }) => `queue-${name}`)];
  return forms.includes(form);
}

/** The part that refreshes itself by events and every 15 s. */
export function OpsNow({ viewer, known, failure }: OverviewProps) {
  return (
    <div
      id="ops-now"
      class="ops-now"
      data-watch="circuits deliverys tasks"
      hx-get="/ops"
      hx-trigger="changed, every 15s"
      hx-swap="morph:outerHTML"
    >
      <Verdict viewer={viewer} alarms={alarmsFor(viewer, alarmsOf(known))} openTasks={known.openTasks} />
      <div class="ops-cards">
        <Sending viewer={viewer} sending={known.sending} failure={failure} />
        <Conservation viewer={viewer} view={known.conservation} />
        <Queues viewer={viewer} queues={known.queues} failure={failure} />
      </div>
      <Processes viewer={viewer} processes={known.processes} />
    </div>
  );
}

interface ShownAlarm {
  readonly severity: AlarmSeverity;
  readonly title: string;
  readonly todo: string;
  readonly observed: Alarm;
}

/** The worst first. */
function alarmsFor(viewer: Viewer, alarms: readonly Alarm[]): readonly ShownAlarm[] {
  return alarms.map((observed) => ({ ...alarmText(viewer, observed), severity: severityOf(observed), observed }));
}

/**
 * The worst alarm with its remedy, then the others. Durations are outside the live region, so screen readers do not
 * repeat them.
 */
function Verdict(
  props: Pick<OverviewProps, 'viewer'> & {
    readonly alarms: readonly ShownAlarm[];
    readonly openTasks: number;
  },
) {
  const { viewer, alarms, openTasks } = props;
  const messages = viewer.messages.opsAlarms;
  const [worst, ...others] = alarms;
  if (worst === undefined) {
    return (
      <section class="card verdict good" aria-label={viewer.messages.terms.state}>
        <p class="verdict-title" role="status">
          {messages.well}
        </p>
        <AsOf viewer={viewer} />
        <p>{messages.wellHint}</p>
        <ForPeople viewer={viewer} openTasks={openTasks} />
      </section>
    );
  }
  return (
    <section class={`card verdict ${worst.severity}`} aria-label={viewer.messages.terms.state}>
      <p class="verdict-title" role="status">
        <bdi>{worst.title}</bdi>
      </p>
      <AsOf viewer={viewer} />
      <Remedy viewer={viewer} shown={worst} />
      <ForPeople viewer={viewer} openTasks={openTasks} />
      {others.length > 0 && (
        <>
          <h2>{messages.more({ count: others.length })}</h2>
          <ul class="alarms">
            {others.map((shown) => (
              <li>
                <p class="alarm-title">
                  <Badge tone={shown.severity}>{messages.severities[shown.severity]}</Badge> <bdi>{shown.title}</bdi>
                </p>
                <Remedy viewer={viewer} shown={shown} />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

/** The time of the verdict. Shown only while the page cannot load a newer one. */
function AsOf({ viewer }: { viewer: Viewer }) {
  const time = <Timestamp viewer={viewer} at={new Date(viewer.nowMs).toISOString()} />;
  return <p class="as-of">{viewer.messages.opsAlarms.asOf.rich({ time })}</p>;
}

/** The number of open tasks. */
function ForPeople({ viewer, openTasks }: { viewer: Viewer; openTasks: number }) {
  const { opsAlarms, common } = viewer.messages;
  if (openTasks === 0) return null;
  return (
    <p>
      {opsAlarms.people({ count: openTasks })} <a href="/tasks">{`${opsAlarms.see}: ${common.tasks}`}</a>
    </p>
  );
}

/** The remedy of an alarm, with a link to its place. */
function Remedy({ viewer, shown: { observed, todo } }: { viewer: Viewer; shown: ShownAlarm }) {
  const messages = viewer.messages.opsAlarms;
  const [address, label] = placeOf(viewer, observed);
  return (
    <>
      <p>
        <strong>{messages.todo}</strong> {todo} <a href={address}>{`${messages.see}: ${label}`}</a>
      </p>
      <Times viewer={viewer} alarm={observed} />
    </>
  );
}

/** Since when the alarm holds, and when the next attempt is. */
function Times({ viewer, alarm }: { viewer: Viewer; alarm: Alarm }) {
  const { since: sinceWord } = viewer.messages.opsAlarms;
  const { next_try: nextTry } = viewer.messages.why.until;
  const since = 'since' in alarm ? alarm.since : null;
  const nextTryAt = 'nextTryAt' in alarm ? alarm.nextTryAt : null;
  const lasts = 'ageMs' in alarm ? new Date(viewer.nowMs - alarm.ageMs).toISOString() : since;
  if (lasts === null && nextTryAt === null) return null;
  return (
    <p class="muted">
      {lasts !== null && (
        <>
          {sinceWord} <Age viewer={viewer} since={lasts} />
        </>
      )}
      {lasts !== null && nextTryAt !== null && ' · '}
      {nextTryAt !== null && <Countdown viewer={viewer} atMs={Date.parse(nextTryAt)} sentence={nextTry} />}
    </p>
  );
}

/** The section that explains the alarm. */
function placeOf(viewer: Viewer, alarm: Alarm): readonly [address: string, label: string] {
  const { messages } = viewer;
  const { ops, common } = messages;
  if (isAboutAllCalls(alarm)) return ['#sending', ops.sending.title];
  switch (alarm.kind) {
    case 'paused':
    case 'throttled':
    case 'budgetBacklog':
    case 'failing':
      return ['#sending', ops.sending.title];
    case 'lost':
    case 'conservationCheckOld':
      return ['#conservation', ops.conservation.title];
    case 'recordsMissing':
    case 'redisUnsafe':
    case 'noProcess':
    case 'silent':
    case 'workerStalled':
    case 'unready':
    case 'dataKeysMissing':
    case 'servicesDiffer':
    case 'clockOff':
      return ['#processes', ops.processes.title];
    case 'queuePaused':
    case 'backlogOld':
      return ['#queues', ops.queues.title];
    case 'webhooksRefused':
    case 'webhooksMostlyRefused':
      if (viewer.may('ops')) return [REFUSED_CALLS_PATH, messages.deliveries.refused];
      return ['/ops/deliveries', ops.tab.deliveries];
    case 'noWebhooks':
    case 'webhookSecrets':
      return ['/ops/deliveries', ops.tab.deliveries];
    case 'noticesFail':
      if (viewer.may('ops')) return ['/ops/notifications', messages.ops.tab.notifications];
      return ['#processes', ops.processes.title];
    case 'failedJobs':
      return ['/queues', ops.queues.board];
    case 'reportOverdue':
      return ['/board?unsent=true', common.board];
    case 'tasksOpen':
    case 'attemptsFail':
    case 'archive_failing':
    case 'delivery_failing':
      return ['/tasks', common.tasks];
  }
}
