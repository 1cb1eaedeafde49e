import type { Series } from '../../../workflow/figures-port';
import type { Failure } from '../../answers';
import { Problem } from '../../parts/problem';
import type { Viewer } from '../../viewer';
import { alarmsOf, type Known } from './alarms';
import type { Hours } from './chart-lines';
import { Charts } from './charts';
import { Conservation } from './conservation';
import { Processes } from './processes';
import { Queues } from './queues';
import { Sending } from './sending';
import { Tabs } from './tabs';
import { Verdict } from './verdict';

export interface OverviewProps {
  readonly viewer: Viewer;
  readonly known: Known;
  readonly failure: Failure | null;
}

/** What an ops engineer opens at night. */
export function OverviewPage(props: OverviewProps & { readonly series: Series; readonly hours: Hours }) {
  const { viewer, known, failure, series, hours } = props;
  return (
    <>
      <div class="head">
        <h1>{viewer.words.ops.title}</h1>
        {/* Only a script can pause, and only a script shows it. */}
        <button type="button" class="quiet" data-live-pause aria-pressed="false" hidden>
          {viewer.words.common.pause}
        </button>
      </div>
      <Tabs viewer={viewer} here="/ops" />
      {failure && !hasForm(known, failure.form) && <Problem viewer={viewer} failure={failure} form={failure.form} />}
      <OpsNow {...props} />
      <Charts viewer={viewer} series={series} hours={hours} />
    </>
  );
}

/** False for the form of what is not so any more: somebody else was faster. */
function hasForm({ sending, queues }: Known, form: string): boolean {
  const paused = sending.operations.filter(({ state }) => state === 'paused');
  const forms = [...paused.map(({ operation }) => `resume-${operation}`), ...queues.map(({ name }) => `queue-${name}`)];
  return forms.includes(form);
}

/** What keeps itself fresh: by events, and by time for what changes without one. */
export function OpsNow({ viewer, known, failure }: OverviewProps) {
  return (
    <div
      id="ops-now"
      class="ops-now"
      data-watch="gates deliverys tasks"
      hx-get="/ops"
      hx-trigger="changed, every 15s"
      hx-swap="morph:outerHTML"
    >
      <Verdict viewer={viewer} alarms={alarmsOf(known)} openTasks={known.openTasks} />
      <div class="ops-cards">
        <Sending viewer={viewer} sending={known.sending} failure={failure} />
        <Conservation viewer={viewer} view={known.conservation} />
        <Queues viewer={viewer} queues={known.queues} failure={failure} />
      </div>
      <Processes viewer={viewer} processes={known.processes} />
    </div>
  );
}
