import type { Failure } from '../../answers';
import { Badge } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { Act } from './act';
import type { Queue } from './read';

/** The queues: what is due, what runs, and a rest for their workers. */
export function Queues(props: { viewer: Viewer; queues: readonly Queue[]; failure: Failure | null }) {
  const { viewer, queues, failure } = props;
  const words = viewer.words.ops.queues;
  return (
    <section class="card" id="queues" aria-labelledby="queues-title">
      <div class="head">
        <h2 id="queues-title">{words.title}</h2>
        {viewer.may('ops') ? <a href="/queues">{words.board}</a> : <span class="muted">{words.boardNeeds}</span>}
      </div>
      <ul class="ops-list">
        {queues.map((queue) => (
          <li id={`queue-${queue.name}`}>
            <QueueItem viewer={viewer} queue={queue} failure={failure} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function QueueItem({ viewer, queue, failure }: { viewer: Viewer; queue: Queue; failure: Failure | null }) {
  const words = viewer.words.ops.queues;
  const { formats } = viewer;
  const title = words.names[queue.name];
  return (
    <div class="queue">
      <h3>{title}</h3>
      <Badge tone={queue.paused ? 'wait' : 'good'}>{queue.paused ? words.paused : words.running}</Badge>
      <span>
        <strong class="figure">{formats.number(queue.due)}</strong> {words.due}
      </span>
      {viewer.may('ops') && (
        <Act
          viewer={viewer}
          form={`queue-${queue.name}`}
          action={`/ops/queues/${queue.name}/${queue.paused ? 'resume' : 'pause'}`}
          label={queue.paused ? words.resume : words.pause}
          about={queue.paused ? words.resumeOf(title) : words.pauseOf(title)}
          {...(queue.paused ? {} : { hint: words.pauseHint })}
          failure={failure}
          hasReason
        />
      )}
      <dl class="figures">
        <Figure label={words.oldest}>{queue.due === 0 ? '–' : formats.duration(queue.oldest_age_ms)}</Figure>
        <Figure label={words.waiting}>{formats.number(queue.waiting)}</Figure>
        <Figure label={words.active}>{formats.number(queue.active)}</Figure>
        <Figure label={words.failed}>{formats.number(queue.failed)}</Figure>
      </dl>
    </div>
  );
}

function Figure({ label, children }: { label: string; children: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
