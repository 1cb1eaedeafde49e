import { RUN_OUTCOMES, type RunState, type RunView } from '../../../contracts/ops/runs';
import { roleAllows } from '../../../domain/vocabulary';
import { PostForm } from '../../parts/form';
import { Problem } from '../../parts/problem';
import { Fact, Badge, Timestamp, UserText, type Tone, Empty } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { Items, addressOf, RUN_FORM, type RunProps, type RunQuery } from './items';
import { PAGES, runPath } from '../../page-table';

/** One run: preview, progress and results. */
export function Run(props: RunProps) {
  const { viewer, run, query, failure } = props;
  const { runs: messages } = viewer.messages;
  return (
    <div id="run" class="run">
      {run.state === 'running' && (
        // Requests the whole run again until every item has its result; the last answer is without this element.
        <span
          id="run-poll"
          hidden
          hx-get={addressOf(run.id, query)}
          hx-trigger="every 1s"
          hx-target="#run"
          hx-swap="morph:outerHTML"
        />
      )}
      <p>
        <a href="/tasks">{messages.backToTasks}</a> · <a href={PAGES.runs.path}>{messages.recent}</a>
      </p>
      <div class="head">
        <h1>{runTitle(viewer, run)}</h1>
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

const TONES: Readonly<Record<RunState, Tone>> = {
  previewed: 'wait',
  running: 'busy',
  done: 'good',
  aborted: 'quiet',
};

function StateBadge({ viewer, run: { state } }: { viewer: Viewer; run: RunView }) {
  return <Badge tone={TONES[state]}>{viewer.messages.runs.states[state]}</Badge>;
}

/** The action and the number of items. */
export function runTitle({ messages: { runs } }: Viewer, run: RunView): string {
  const title = run.action === 'replay' ? runs.deliveriesTitle : runs.tasksTitle;
  return title({ action: runs.actions[run.action], count: run.total });
}

/** The state of the run, announced by screen readers. */
function State({ viewer, run }: { viewer: Viewer; run: RunView }) {
  const { runs: messages } = viewer.messages;
  const { counts, state } = run;
  return (
    <div role="status" id="run-state">
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
function Progress({ viewer, run: { total, counts } }: { viewer: Viewer; run: RunView }) {
  const { runs: messages } = viewer.messages;
  const decided = total - counts.waiting - counts.skipped;
  const text = messages.of({ done: decided, total });
  return (
    <p class="run-progress">
      <progress id="run-done" value={decided} max={total} aria-label={messages.progress} aria-valuetext={text}>
        {text}
      </progress>{' '}
      <span>{text}</span>
    </p>
  );
}

function About({ viewer, run }: { viewer: Viewer; run: RunView }) {
  const { runs: messages } = viewer.messages;
  const times = [
    [messages.previewedAt, run.previewed_at],
    [messages.startedAt, run.started_at],
    [messages.endedAt, run.ended_at],
    [messages.keptUntil, run.state === 'previewed' ? run.expires_at : null],
  ] as const;
  return (
    <dl class="facts">
      {run.reason !== null && (
        <Fact label={viewer.messages.common.reason}>
          <UserText>{run.reason}</UserText>
        </Fact>
      )}
      <Fact label={messages.by}>
        <UserText>{run.by}</UserText>
      </Fact>
      {run.started_by !== null && run.started_by !== run.by && (
        <Fact label={messages.runBy}>
          <UserText>{run.started_by}</UserText>
        </Fact>
      )}
      {times.map(
        ([label, at]) =>
          at !== null && (
            <Fact label={label}>
              <Timestamp viewer={viewer} at={at} />
            </Fact>
          ),
      )}
    </dl>
  );
}

/** The actions that the viewer may take on the run now. */
function Acts({ viewer, run, query }: { viewer: Viewer; run: RunView; query: RunQuery }) {
  const { runs: messages } = viewer.messages;
  const { state, counts } = run;
  const { actor } = viewer;
  if (!viewer.may('dispatcher') || actor === null || state === 'done' || state === 'aborted') return null;
  const mayRun = actor.id === run.by_id || roleAllows(actor.role, 'ops');
  const canStart = state === 'previewed' && counts.waiting > 0;
  return (
    <>
      {!mayRun && canStart && <p class="muted">{messages.onlyWho({ name: run.by })}</p>}
      <div class="row">
        {mayRun && canStart && (
          <RunAction viewer={viewer} run={run} act="start" label={messages.start({ count: counts.waiting })} />
        )}
        {state !== 'previewed' && (
          <RunAction viewer={viewer} run={run} act="abort" label={messages.abort} hint={messages.abortHint} />
        )}
        {state === 'running' && (
          <noscript>
            <a class="button" href={addressOf(run.id, query)}>
              {messages.look}
            </a>
          </noscript>
        )}
      </div>
    </>
  );
}

function RunAction(props: { viewer: Viewer; run: RunView; act: 'start' | 'abort'; label: string; hint?: string }) {
  const { viewer, run, act, label, hint } = props;
  return (
    <PostForm viewer={viewer} action={runPath(run.id)} class="inline" id={`run-${act}`} label={label}>
      <button id={`run-${act}-button`} name="act" value={act} class={act === 'abort' ? 'danger' : 'main'} title={hint}>
        {label}
      </button>
    </PostForm>
  );
}

interface RecentProps {
  readonly viewer: Viewer;
  readonly runs: readonly RunView[];
}

/** The most recent runs of all users. */
export function RecentRuns(props: RecentProps) {
  const { runs: messages } = props.viewer.messages;
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
  const { runs: messages } = viewer.messages;
  const { noRuns } = messages;
  return (
    <div id="runs-recent" data-watch="runs" hx-get={PAGES.runs.path} hx-trigger="changed" hx-swap="morph:outerHTML">
      {runs.length === 0 ? (
        <Empty title={noRuns.title} hint={noRuns.hint} />
      ) : (
        <ol class="run-items" aria-label={messages.recent}>
          {runs.map((run) => (
            <RunRow viewer={viewer} run={run} />
          ))}
        </ol>
      )}
    </div>
  );
}

function RunRow({ viewer, run }: { viewer: Viewer; run: RunView }) {
  const { runs: messages } = viewer.messages;
  const results = RUN_OUTCOMES.filter((outcome) => run.counts[outcome] > 0 && run.state !== 'previewed');
  return (
    <li id={`run-${run.id}`} class="run-recent">
      <div>
        <a href={runPath(run.id)} data-row-link>
          {runTitle(viewer, run)}
        </a>{' '}
        <StateBadge viewer={viewer} run={run} />
        {run.reason !== null && (
          <p class="muted run-why">
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
        <UserText>{run.started_by ?? run.by}</UserText> ·{' '}
        <Timestamp viewer={viewer} at={run.started_at ?? run.previewed_at} />
      </span>
    </li>
  );
}
