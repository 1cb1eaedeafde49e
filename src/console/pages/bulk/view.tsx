import { type BulkState, BULK_OUTCOMES } from '../../../contracts/bulk';
import { roleAllows } from '../../../domain/vocabulary';
import type { BulkRun } from '../../../workflow/bulk-port';
import { PostForm } from '../../parts/form';
import { Problem } from '../../parts/problem';
import { Badge, Timestamp, UserText, type Tone, Empty } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { Items } from './items';
import { bulkPath, RUN_FORM, type RunProps, type RunQuery } from './model';

/** One bulk run: preview, progress and results. */
export function Run(props: RunProps) {
  const { viewer, run, query, failure } = props;
  const { bulk: messages } = viewer.messages;
  return (
    <div id="bulk-run" class="bulk-run">
      {(run.state === 'running' || (run.state === 'aborted' && run.counts.waiting > 0)) && (
        // Requests the whole run again until every task has its result; the last answer is without this element.
        <span
          id="bulk-poll"
          hidden
          hx-get={bulkPath(run.id, query)}
          hx-trigger="every 1s"
          hx-target="#bulk-run"
          hx-swap="morph:outerHTML"
        />
      )}
      <p>
        <a href="/tasks">{messages.backToTasks}</a> · <a href="/tasks/bulk">{messages.recent}</a>
      </p>
      <div class="head">
        <h1>{messages.runTitle({ action: messages.actions[run.action], count: run.total })}</h1>
        <StateBadge viewer={viewer} run={run} />
      </div>
      <Problem viewer={viewer} failure={failure} form={RUN_FORM} />
      <section class="card stack" aria-label={messages.states[run.state]}>
        <State viewer={viewer} run={run} />
        {run.state !== 'previewed' && <Progress viewer={viewer} run={run} />}
        <About viewer={viewer} run={run} />
        <Acts viewer={viewer} run={run} query={query} />
      </section>
      <Items {...props} />
    </div>
  );
}

const TONES: Readonly<Record<BulkState, Tone>> = {
  previewed: 'wait',
  running: 'busy',
  interrupted: 'bad',
  done: 'good',
  aborted: 'quiet',
};

function StateBadge({ viewer, run: { state } }: { viewer: Viewer; run: BulkRun }) {
  return <Badge tone={TONES[state]}>{viewer.messages.bulk.states[state]}</Badge>;
}

/** The state of the run, announced by screen readers. */
function State({ viewer, run }: { viewer: Viewer; run: BulkRun }) {
  const { bulk: messages } = viewer.messages;
  const { counts, state } = run;
  return (
    <div role="status" id="bulk-state">
      {state === 'previewed' ? (
        <>
          <p>
            <strong>{counts.waiting === 0 ? messages.none : messages.possible({ count: counts.waiting })}</strong>
            {counts.waiting > 0 &&
              counts.waiting < run.total &&
              ` · ${messages.impossible({ count: run.total - counts.waiting })}`}
          </p>
          <p>{messages.nothingYet}</p>
        </>
      ) : (
        <p>{messages.about[state]}</p>
      )}
    </div>
  );
}

/** Outside the live region: a screen reader does not announce it every second. */
function Progress({ viewer, run: { total, counts } }: { viewer: Viewer; run: BulkRun }) {
  const { bulk: messages } = viewer.messages;
  const decided = total - counts.waiting - counts.skipped;
  const text = messages.of({ done: decided, total });
  return (
    <p class="bulk-progress">
      <progress id="bulk-done" value={decided} max={total} aria-label={messages.progress} aria-valuetext={text}>
        {text}
      </progress>{' '}
      <span>{text}</span>
    </p>
  );
}

function About({ viewer, run }: { viewer: Viewer; run: BulkRun }) {
  const { bulk: messages } = viewer.messages;
  const times = [
    [messages.previewedAt, run.previewedAt],
    [messages.startedAt, run.startedAt],
    [messages.endedAt, run.endedAt],
    [messages.keptUntil, run.state === 'previewed' ? run.expiresAt : null],
  ] as const;
  return (
    <dl class="facts">
      {run.reason !== null && (
        <>
          <dt>{messages.reason}</dt>
          <dd>
            <UserText>{run.reason}</UserText>
          </dd>
        </>
      )}
      <dt>{messages.by}</dt>
      <dd>
        <UserText>{run.by.name}</UserText>
      </dd>
      {run.runBy !== null && run.runBy.id !== run.by.id && (
        <>
          <dt>{messages.runBy}</dt>
          <dd>
            <UserText>{run.runBy.name}</UserText>
          </dd>
        </>
      )}
      {times.map(
        ([label, at]) =>
          at !== null && (
            <>
              <dt>{label}</dt>
              <dd>
                <Timestamp viewer={viewer} at={at} />
              </dd>
            </>
          ),
      )}
    </dl>
  );
}

/** The actions that the viewer may take on the run now. */
function Acts({ viewer, run, query }: { viewer: Viewer; run: BulkRun; query: RunQuery }) {
  const { bulk: messages } = viewer.messages;
  const { state, counts } = run;
  const { actor } = viewer;
  if (!viewer.may('dispatcher') || actor === null || state === 'done' || state === 'aborted') return null;
  const mayRun = actor.id === run.by.id || roleAllows(actor.role, 'ops');
  const canStart = state === 'previewed' && counts.waiting > 0;
  return (
    <>
      {!mayRun && state !== 'running' && <p class="muted">{messages.onlyWho({ name: run.by.name })}</p>}
      <div class="row">
        {mayRun && canStart && (
          <RunAction viewer={viewer} run={run} act="start" label={messages.start({ count: counts.waiting })} />
        )}
        {mayRun && state === 'interrupted' && (
          <RunAction viewer={viewer} run={run} act="resume" label={messages.resume} />
        )}
        {state !== 'previewed' && (
          <RunAction viewer={viewer} run={run} act="abort" label={messages.abort} hint={messages.abortHint} />
        )}
        {state === 'running' && (
          <noscript>
            <a class="button" href={bulkPath(run.id, query)}>
              {messages.look}
            </a>
          </noscript>
        )}
      </div>
    </>
  );
}

function RunAction(props: {
  viewer: Viewer;
  run: BulkRun;
  act: 'start' | 'resume' | 'abort';
  label: string;
  hint?: string;
}) {
  const { viewer, run, act, label, hint } = props;
  return (
    <PostForm viewer={viewer} action={bulkPath(run.id)} class="inline" id={`bulk-${act}`} label={label}>
      <button id={`bulk-${act}-button`} name="act" value={act} class={act === 'abort' ? 'danger' : 'main'} title={hint}>
        {label}
      </button>
    </PostForm>
  );
}

interface RecentProps {
  readonly viewer: Viewer;
  readonly runs: readonly BulkRun[];
}

/** The most recent runs of all users. */
export function RecentRuns(props: RecentProps) {
  const { bulk: messages } = props.viewer.messages;
  return (
    <>
      <p>
        <a href="/tasks">{messages.backToTasks}</a>
      </p>
      <div class="head">
        <h1>{messages.recent}</h1>
        <p class="muted">{messages.recentHint}</p>
      </div>
      <RecentPart {...props} />
    </>
  );
}

/** The list of runs, refreshed by events. */
export function RecentPart({ viewer, runs }: RecentProps) {
  const { bulk: messages } = viewer.messages;
  const { noRuns } = messages;
  return (
    <div id="bulk-recent" data-watch="bulks" hx-get="/tasks/bulk" hx-trigger="changed" hx-swap="morph:outerHTML">
      {runs.length === 0 ? (
        <Empty title={noRuns.title} hint={noRuns.hint} />
      ) : (
        <ol class="bulk-items" aria-label={messages.recent}>
          {runs.map((run) => (
            <RunRow viewer={viewer} run={run} />
          ))}
        </ol>
      )}
    </div>
  );
}

function RunRow({ viewer, run }: { viewer: Viewer; run: BulkRun }) {
  const { bulk: messages } = viewer.messages;
  const results = BULK_OUTCOMES.filter((outcome) => run.counts[outcome] > 0 && run.state !== 'previewed');
  return (
    <li id={`bulk-${run.id}`} class="bulk-recent">
      <div>
        <a href={bulkPath(run.id)} data-row-link>
          {messages.runTitle({ action: messages.actions[run.action], count: run.total })}
        </a>{' '}
        <StateBadge viewer={viewer} run={run} />
        {run.reason !== null && (
          <p class="muted bulk-why">
            <UserText>{run.reason}</UserText>
          </p>
        )}
      </div>
      <span>
        {results
          .map((outcome) => `${messages.outcomes[outcome]}: ${viewer.formats.number(run.counts[outcome])}`)
          .join(' · ')}
      </span>
      <span class="muted">
        <UserText>{(run.runBy ?? run.by).name}</UserText> ·{' '}
        <Timestamp viewer={viewer} at={run.startedAt ?? run.previewedAt} />
      </span>
    </li>
  );
}
