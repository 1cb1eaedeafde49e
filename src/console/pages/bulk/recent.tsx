import { BULK_OUTCOMES } from '../../../contracts/bulk';
import type { BulkRun } from '../../../workflow/bulk-port';
import { Empty, Moment, Written } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { bulkPath } from './query';
import { StateBadge } from './run';

interface RecentProps {
  readonly viewer: Viewer;
  readonly runs: readonly BulkRun[];
}

/** What was decided together lately, whoever did it. */
export function RecentRuns(props: RecentProps) {
  const { bulk: words } = props.viewer.words;
  return (
    <>
      <p>
        <a href="/tasks">{words.backToTasks}</a>
      </p>
      <div class="head">
        <h1>{words.recent}</h1>
        <p class="muted">{words.recentHint}</p>
      </div>
      <RecentPart {...props} />
    </>
  );
}

/** Keeps itself fresh. */
export function RecentPart({ viewer, runs }: RecentProps) {
  const { bulk: words } = viewer.words;
  const { noRuns } = words;
  return (
    <div id="bulk-recent" data-watch="bulks" hx-get="/tasks/bulk" hx-trigger="changed" hx-swap="morph:outerHTML">
      {runs.length === 0 ? (
        <Empty title={noRuns.title} hint={noRuns.hint} />
      ) : (
        <ol class="bulk-items" aria-label={words.recent}>
          {runs.map((run) => (
            <RunRow viewer={viewer} run={run} />
          ))}
        </ol>
      )}
    </div>
  );
}

function RunRow({ viewer, run }: { viewer: Viewer; run: BulkRun }) {
  const { bulk: words } = viewer.words;
  const results = BULK_OUTCOMES.filter((outcome) => run.counts[outcome] > 0 && run.state !== 'previewed');
  return (
    <li id={`bulk-${run.id}`} class="bulk-recent">
      <div>
        <a href={bulkPath(run.id)} data-row-link>
          {words.runTitle(words.actions[run.action], run.total)}
        </a>{' '}
        <StateBadge viewer={viewer} run={run} />
        {run.reason !== null && (
          <p class="muted bulk-why">
            <Written>{run.reason}</Written>
          </p>
        )}
      </div>
      <span>
        {results
          .map((outcome) => `${words.outcomes[outcome]}: ${viewer.formats.number(run.counts[outcome])}`)
          .join(' · ')}
      </span>
      <span class="muted">
        <Written>{(run.runBy ?? run.by).name}</Written> ·{' '}
        <Moment viewer={viewer} at={run.startedAt ?? run.previewedAt} />
      </span>
    </li>
  );
}
