import type { BulkState } from '../../../contracts/bulk';
import { roleAllows } from '../../../domain/vocabulary';
import type { BulkRun } from '../../../workflow/bulk-port';
import { PostForm } from '../../parts/form';
import { Problem } from '../../parts/problem';
import { Badge, Moment, Written, type Tone } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { Items } from './items';
import { bulkPath, RUN_FORM, type RunProps, type RunQuery } from './query';

/** One decision on many tasks: before it, while it runs, and what came of it. */
export function Run(props: RunProps) {
  const { viewer, run, query, failure } = props;
  const { bulk: words } = viewer.words;
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
        <a href="/tasks">{words.backToTasks}</a> · <a href="/tasks/bulk">{words.recent}</a>
      </p>
      <div class="head">
        <h1>{words.runTitle(words.actions[run.action], run.total)}</h1>
        <StateBadge viewer={viewer} run={run} />
      </div>
      <Problem viewer={viewer} failure={failure} form={RUN_FORM} />
      <section class="card stack" aria-label={words.states[run.state]}>
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

export function StateBadge({ viewer, run: { state } }: { viewer: Viewer; run: BulkRun }) {
  return <Badge tone={TONES[state]}>{viewer.words.bulk.states[state]}</Badge>;
}

/** How things stand, in a sentence that is read out when it changes. */
function State({ viewer, run }: { viewer: Viewer; run: BulkRun }) {
  const { bulk: words } = viewer.words;
  const { counts, state } = run;
  return (
    <div role="status" id="bulk-state">
      {state === 'previewed' ? (
        <>
          <p>
            <strong>{counts.waiting === 0 ? words.none : words.possible(counts.waiting)}</strong>
            {counts.waiting > 0 && counts.waiting < run.total && ` · ${words.impossible(run.total - counts.waiting)}`}
          </p>
          <p>{words.nothingYet}</p>
        </>
      ) : (
        <p>{words.said[state]}</p>
      )}
    </div>
  );
}

/** Outside the live region: a screen reader does not announce it every second. */
function Progress({ viewer, run: { total, counts } }: { viewer: Viewer; run: BulkRun }) {
  const { bulk: words } = viewer.words;
  const decided = total - counts.waiting - counts.skipped;
  const text = words.of(decided, total);
  return (
    <p class="bulk-progress">
      <progress id="bulk-done" value={decided} max={total} aria-label={words.progress} aria-valuetext={text}>
        {text}
      </progress>{' '}
      <span>{text}</span>
    </p>
  );
}

function About({ viewer, run }: { viewer: Viewer; run: BulkRun }) {
  const { bulk: words } = viewer.words;
  const moments = [
    [words.previewedAt, run.previewedAt],
    [words.startedAt, run.startedAt],
    [words.endedAt, run.endedAt],
    [words.keptUntil, run.state === 'previewed' ? run.expiresAt : null],
  ] as const;
  return (
    <dl class="facts">
      {run.reason !== null && (
        <>
          <dt>{words.reason}</dt>
          <dd>
            <Written>{run.reason}</Written>
          </dd>
        </>
      )}
      <dt>{words.by}</dt>
      <dd>
        <Written>{run.by.name}</Written>
      </dd>
      {run.runBy !== null && run.runBy.id !== run.by.id && (
        <>
          <dt>{words.runBy}</dt>
          <dd>
            <Written>{run.runBy.name}</Written>
          </dd>
        </>
      )}
      {moments.map(
        ([label, at]) =>
          at !== null && (
            <>
              <dt>{label}</dt>
              <dd>
                <Moment viewer={viewer} at={at} />
              </dd>
            </>
          ),
      )}
    </dl>
  );
}

/** The actions that the viewer may take on the run now. */
function Acts({ viewer, run, query }: { viewer: Viewer; run: BulkRun; query: RunQuery }) {
  const { bulk: words } = viewer.words;
  const { state, counts } = run;
  const { actor } = viewer;
  if (!viewer.may('dispatcher') || actor === null || state === 'done' || state === 'aborted') return null;
  const mayRun = actor.id === run.by.id || roleAllows(actor.role, 'ops');
  const canStart = state === 'previewed' && counts.waiting > 0;
  return (
    <>
      {!mayRun && state !== 'running' && <p class="muted">{words.onlyWho(run.by.name)}</p>}
      <div class="row">
        {mayRun && canStart && <Act viewer={viewer} run={run} act="start" label={words.start(counts.waiting)} />}
        {mayRun && state === 'interrupted' && <Act viewer={viewer} run={run} act="resume" label={words.resume} />}
        {state !== 'previewed' && (
          <Act viewer={viewer} run={run} act="abort" label={words.abort} hint={words.abortHint} />
        )}
        {state === 'running' && (
          <noscript>
            <a class="button" href={bulkPath(run.id, query)}>
              {words.look}
            </a>
          </noscript>
        )}
      </div>
    </>
  );
}

function Act(props: { viewer: Viewer; run: BulkRun; act: 'start' | 'resume' | 'abort'; label: string; hint?: string }) {
  const { viewer, run, act, label, hint } = props;
  return (
    <PostForm viewer={viewer} action={bulkPath(run.id)} class="inline" id={`bulk-${act}`} label={label}>
      <button id={`bulk-${act}-button`} name="act" value={act} class={act === 'abort' ? 'danger' : 'main'} title={hint}>
        {label}
      </button>
    </PostForm>
  );
}
