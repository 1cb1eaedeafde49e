import { type ProcessStatus, type QueueStatus, isReplaced } from '../../../workflow/ops/metrics-port';
import { Fact, Age, Badge, Empty, Ref, type Tone } from '../../parts/text';
import type { Viewer } from '../../viewer';
import type { OpsQueue } from '../../../workflow/ops/alarms';
import type { FormFailure } from '../../page';
import { ActionForm } from '../../parts/ops';

/** The processes with their state and last heartbeat. */
export function Processes({ viewer, processes }: { viewer: Viewer; processes: readonly ProcessStatus[] }) {
  const messages = viewer.messages.ops.processes;
  return (
    <section class="card" id="processes" aria-labelledby="processes-title">
      <h2 id="processes-title">{messages.title}</h2>
      {processes.length === 0 && <Empty title={messages.none} />}
      <ul class="ops-list tiles">
        {processes.map((process) => (
          <li id={`process-${process.id}`}>
            <ProcessItem viewer={viewer} process={process} all={processes} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface ItemProps {
  readonly viewer: Viewer;
  readonly process: ProcessStatus;
  readonly all: readonly ProcessStatus[];
}

function ProcessItem({ viewer, process, all }: ItemProps) {
  const messages = viewer.messages.ops.processes;
  const { formats } = viewer;
  const [tone, label] = statusOf({ viewer, process, all });
  return (
    <>
      <div class="row">
        <h3>{messages.roles[process.role]}</h3>
        <Badge tone={tone}>{label}</Badge>
      </div>
      <dl class="facts">
        <Fact label={messages.process}>
          <Ref>{`${process.hostName} · ${process.processId}`}</Ref>
        </Fact>
        <Fact label={messages.version}>
          <Ref>{`${process.version} · Node ${process.nodeVersion}`}</Ref>
        </Fact>
        <Fact label={messages.started}>
          <Age viewer={viewer} since={isoOf(process.startedAtMs)} />
        </Fact>
        <Fact label={messages.beat}>{messages.ago({ age: formats.duration(process.beatAgeMs) })}</Fact>
        {process.problems.length > 0 && (
          <Fact label={messages.fails}>
            <Ref>{process.problems.join(', ')}</Ref>
          </Fact>
        )}
      </dl>
      {process.queues.length > 0 && <Took viewer={viewer} queues={process.queues} />}
    </>
  );
}

/** When a worker last took a job from each queue. */
function Took({ viewer, queues }: { viewer: Viewer; queues: readonly QueueStatus[] }) {
  const { processes: messages, queues: queueMessages } = viewer.messages.ops;
  return (
    <>
      <h4>{messages.took}</h4>
      <dl class="facts">
        {queues.map(({ name, lastTookAtMs, isStalled }) => (
          <Fact label={queueMessages.names[name]}>
            {lastTookAtMs === null ? (
              <span class="muted">{messages.never}</span>
            ) : (
              messages.ago({ age: viewer.formats.duration(viewer.nowMs - lastTookAtMs) })
            )}{' '}
            {isStalled && <Badge tone="bad">{messages.still}</Badge>}
          </Fact>
        ))}
      </dl>
    </>
  );
}

function statusOf({ viewer, process, all }: ItemProps): readonly [Tone, string] {
  const messages = viewer.messages.ops.processes;
  if (process.isSilent) return isReplaced(process, all) ? ['quiet', messages.replaced] : ['bad', messages.silent];
  if (process.queues.some(({ isStalled }) => isStalled)) return ['bad', messages.still];
  return process.isReady ? ['good', messages.alive] : ['wait', messages.notReady];
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** The queues, with pausing and resuming. */
export function Queues(props: { viewer: Viewer; queues: readonly OpsQueue[]; failure: FormFailure | null }) {
  const { viewer, queues, failure } = props;
  const messages = viewer.messages.ops.queues;
  return (
    <section class="card" id="queues" aria-labelledby="queues-title">
      <div class="head">
        <h2 id="queues-title">{messages.title}</h2>
        {viewer.may('ops') ? <a href="/queues">{messages.board}</a> : <span class="muted">{messages.boardNeeds}</span>}
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

function QueueItem({ viewer, queue, failure }: { viewer: Viewer; queue: OpsQueue; failure: FormFailure | null }) {
  const messages = viewer.messages.ops.queues;
  const { formats } = viewer;
  const title = messages.names[queue.name];
  return (
    <div class="queue">
      <h3>{title}</h3>
      <Badge tone={queue.paused ? 'wait' : 'good'}>{queue.paused ? messages.paused : messages.running}</Badge>
      <span>
        <strong class="figure">{formats.number(queue.due)}</strong> {messages.due}
      </span>
      {viewer.may('ops') && (
        <ActionForm
          viewer={viewer}
          form={`queue-${queue.name}`}
          action={`/ops/queues/${queue.name}/${queue.paused ? 'resume' : 'pause'}`}
          label={queue.paused ? viewer.messages.terms.actions.resume : messages.pause}
          about={queue.paused ? messages.resumeOf({ queue: title }) : messages.pauseOf({ queue: title })}
          {...(queue.paused ? {} : { hint: messages.pauseHint })}
          failure={failure}
          hasReason
        />
      )}
      <dl class="figures">
        <Figure label={messages.oldest}>{queue.due === 0 ? '–' : formats.duration(queue.oldest_age_ms)}</Figure>
        <Figure label={messages.waiting}>{formats.number(queue.waiting)}</Figure>
        <Figure label={messages.active}>{formats.number(queue.active)}</Figure>
        <Figure label={messages.failed}>{formats.number(queue.failed)}</Figure>
      </dl>
    </div>
  );
}

function Figure({ label, children }: { label: string; children: string }) {
  return (
    <div>
      <Fact label={label}>{children}</Fact>
    </div>
  );
}
