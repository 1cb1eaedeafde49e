import type { ProcessStanding, QueueStanding } from '../../../workflow/figures-port';
import { Age, Badge, Empty, Ref, type Tone } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { isReplaced } from './alarms';

/** Who works, and who has not been heard of. */
export function Processes({ viewer, processes }: { viewer: Viewer; processes: readonly ProcessStanding[] }) {
  const words = viewer.words.ops.processes;
  return (
    <section class="card" id="processes" aria-labelledby="processes-title">
      <h2 id="processes-title">{words.title}</h2>
      {processes.length === 0 && <Empty title={words.none} />}
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
  readonly process: ProcessStanding;
  readonly all: readonly ProcessStanding[];
}

function ProcessItem({ viewer, process, all }: ItemProps) {
  const words = viewer.words.ops.processes;
  const { formats } = viewer;
  const [tone, word] = standingOf({ viewer, process, all });
  return (
    <>
      <div class="row">
        <h3>{words.roles[process.role]}</h3>
        <Badge tone={tone}>{word}</Badge>
      </div>
      <dl class="facts">
        <dt>{words.process}</dt>
        <dd>
          <Ref>{`${process.hostName} · ${process.processId}`}</Ref>
        </dd>
        <dt>{words.version}</dt>
        <dd>
          <Ref>{`${process.version} · Node ${process.nodeVersion}`}</Ref>
        </dd>
        <dt>{words.started}</dt>
        <dd>
          <Age viewer={viewer} since={isoOf(process.startedAtMs)} />
        </dd>
        <dt>{words.beat}</dt>
        <dd>{words.ago(formats.duration(process.beatAgeMs))}</dd>
        {process.problems.length > 0 && (
          <>
            <dt>{words.fails}</dt>
            <dd>
              <Ref>{process.problems.join(', ')}</Ref>
            </dd>
          </>
        )}
      </dl>
      {process.queues.length > 0 && <Took viewer={viewer} queues={process.queues} />}
    </>
  );
}

/** Of a worker: when it last took work from each queue. */
function Took({ viewer, queues }: { viewer: Viewer; queues: readonly QueueStanding[] }) {
  const { processes: words, queues: queueWords } = viewer.words.ops;
  return (
    <>
      <h4>{words.took}</h4>
      <dl class="facts">
        {queues.map(({ name, lastTookAtMs, standsStill }) => (
          <>
            <dt>{queueWords.names[name]}</dt>
            <dd>
              {lastTookAtMs === null ? (
                <span class="muted">{words.never}</span>
              ) : (
                words.ago(viewer.formats.duration(viewer.nowMs - lastTookAtMs))
              )}{' '}
              {standsStill && <Badge tone="bad">{words.still}</Badge>}
            </dd>
          </>
        ))}
      </dl>
    </>
  );
}

function standingOf({ viewer, process, all }: ItemProps): readonly [Tone, string] {
  const words = viewer.words.ops.processes;
  if (process.isSilent) return isReplaced(process, all) ? ['quiet', words.replaced] : ['bad', words.silent];
  if (process.queues.some(({ standsStill }) => standsStill)) return ['bad', words.still];
  return process.isReady ? ['good', words.alive] : ['wait', words.notReady];
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
