import { Badge, Age } from '../../parts/text';
import { Countdown } from '../../parts/countdown';
import type { Viewer } from '../../viewer';
import { severityOf, type Alarm } from './alarms';

/** All well, or what is wrong and what to do about it. What changes with time alone stands outside of what is read out. */
export function Verdict(props: { viewer: Viewer; alarms: readonly Alarm[]; openTasks: number }) {
  const { viewer, alarms, openTasks } = props;
  const words = viewer.words.opsAlarms;
  const [worst, ...others] = alarms;
  if (worst === undefined) {
    return (
      <section class="card verdict good" aria-label={viewer.words.ops.state}>
        <p class="verdict-title" role="status">
          {words.well}
        </p>
        <p>{words.wellHint}</p>
        <ForPeople viewer={viewer} openTasks={openTasks} />
      </section>
    );
  }
  return (
    <section class={`card verdict ${severityOf(worst)}`} aria-label={viewer.words.ops.state}>
      <p class="verdict-title" role="status">
        <bdi>{sentenceOf(viewer, worst).title}</bdi>
      </p>
      <Remedy viewer={viewer} alarm={worst} />
      <ForPeople viewer={viewer} openTasks={openTasks} />
      {others.length > 0 && (
        <>
          <h2>{words.more(others.length)}</h2>
          <ul class="alarms">
            {others.map((alarm) => (
              <li>
                <p class="alarm-title">
                  <Badge tone={severityOf(alarm)}>{words.severities[severityOf(alarm)]}</Badge>{' '}
                  <bdi>{sentenceOf(viewer, alarm).title}</bdi>
                </p>
                <Remedy viewer={viewer} alarm={alarm} />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

/** What no machine decides: no alarm, and not to be missed. */
function ForPeople({ viewer, openTasks }: { viewer: Viewer; openTasks: number }) {
  const { opsAlarms, common } = viewer.words;
  if (openTasks === 0) return null;
  return (
    <p>
      {opsAlarms.people(openTasks)} <a href="/tasks">{`${opsAlarms.see}: ${common.tasks}`}</a>
    </p>
  );
}

/** What to do, and where. */
function Remedy({ viewer, alarm }: { viewer: Viewer; alarm: Alarm }) {
  const words = viewer.words.opsAlarms;
  const [address, label] = placeOf(viewer, alarm);
  return (
    <>
      <p>
        <strong>{words.todo}</strong> {sentenceOf(viewer, alarm).todo} <a href={address}>{`${words.see}: ${label}`}</a>
      </p>
      <Times viewer={viewer} alarm={alarm} />
    </>
  );
}

/** Since when it is so, and when it is tried again. */
function Times({ viewer, alarm }: { viewer: Viewer; alarm: Alarm }) {
  const { since: sinceWord, nextTry } = viewer.words.opsAlarms;
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
      {nextTryAt !== null && (
        <>
          {nextTry} <Countdown viewer={viewer} atMs={Date.parse(nextTryAt)} />
        </>
      )}
    </p>
  );
}

/** Where more is to be seen, and where it is mended. */
function placeOf({ words }: Viewer, { kind }: Alarm): readonly [address: string, label: string] {
  const { ops, common } = words;
  switch (kind) {
    case 'connection':
    case 'outage':
    case 'paused':
    case 'failing':
      return ['#sending', ops.sending.title];
    case 'lost':
    case 'walkOld':
      return ['#conservation', ops.conservation.title];
    case 'recordsMissing':
    case 'nobody':
    case 'silent':
    case 'standsStill':
    case 'unready':
      return ['#processes', ops.processes.title];
    case 'queuePaused':
    case 'backlogOld':
      return ['#queues', ops.queues.title];
    case 'failedJobs':
      return ['/queues', ops.queues.board];
    case 'attemptsFail':
    case 'archive_failing':
    case 'delivery_failing':
      return ['/tasks', common.tasks];
  }
}

function sentenceOf({ words }: Viewer, alarm: Alarm): { readonly title: string; readonly todo: string } {
  const { opsAlarms } = words;
  switch (alarm.kind) {
    case 'connection':
    case 'outage':
    case 'archive_failing':
    case 'delivery_failing':
    case 'walkOld':
    case 'recordsMissing':
      return opsAlarms[alarm.kind];
    case 'paused':
      return opsAlarms.paused(alarm.operation);
    case 'failing':
      return opsAlarms.failing(alarm.failures);
    case 'attemptsFail':
      return opsAlarms.attemptsFail(alarm.failed, alarm.made);
    case 'lost':
      return opsAlarms.lost(alarm.count);
    case 'nobody':
      return opsAlarms.nobody(alarm.role);
    case 'silent':
      return opsAlarms.silent(alarm.role, alarm.host);
    case 'standsStill':
      return opsAlarms.standsStill(alarm.queue, alarm.host);
    case 'unready':
      return opsAlarms.unready(alarm.role, alarm.host, alarm.checks);
    case 'queuePaused':
    case 'backlogOld':
      return opsAlarms[alarm.kind](alarm.queue);
    case 'failedJobs':
      return opsAlarms.failedJobs(alarm.queue, alarm.count);
  }
}
