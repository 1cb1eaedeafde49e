import type { SendingView } from '../../../contracts/operator';
import type { Failure } from '../../answers';
import { Countdown } from '../../parts/countdown';
import { Age, Badge } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { Act } from './act';
import { FAILURES_BORNE } from './alarms';
import { Budgets } from './budgets';

interface SendingProps {
  readonly viewer: Viewer;
  readonly sending: SendingView;
  readonly failure: Failure | null;
}

/** What holds sending, and how much may be sent. */
export function Sending({ viewer, sending, failure }: SendingProps) {
  const words = viewer.words.ops.sending;
  const { connection, service, held } = sending;
  return (
    <section class="card" id="sending" aria-labelledby="sending-title">
      <h2 id="sending-title">{words.title}</h2>
      <dl class="facts">
        <dt>{words.connection}</dt>
        <dd>
          <Badge tone={connection.state === 'working' ? 'good' : 'bad'}>
            {words.connectionStates[connection.state]}
          </Badge>
          <Since viewer={viewer} at={connection.since} nextTryAt={connection.next_try_at} />
        </dd>
        <dt>{words.token}</dt>
        <dd>
          <Token viewer={viewer} token={sending.token} />
        </dd>
        <dt>{words.service}</dt>
        <dd>
          <ServiceBadge viewer={viewer} service={service} />{' '}
          <span class="muted">{service.failures === 0 ? words.noFailures : words.failures(service.failures)}</span>
          <Since viewer={viewer} at={service.since} nextTryAt={service.next_try_at} />
        </dd>
        <dt>{words.held}</dt>
        <dd>{held === 0 ? <span class="muted">{words.heldNone}</span> : words.heldCount(held)}</dd>
        <dt>{words.operations}</dt>
        <dd>
          <Operations viewer={viewer} sending={sending} failure={failure} />
        </dd>
      </dl>
      <Budgets viewer={viewer} budgets={sending.budgets} />
    </section>
  );
}

/** It may answer, and with failures alone. */
function ServiceBadge({ viewer, service }: { viewer: Viewer; service: SendingView['service'] }) {
  const words = viewer.words.ops.sending;
  if (service.state !== 'working') return <Badge tone="bad">{words.serviceStates[service.state]}</Badge>;
  if (service.failures > FAILURES_BORNE) return <Badge tone="wait">{words.failing}</Badge>;
  return <Badge tone="good">{words.serviceStates.working}</Badge>;
}

function Token({ viewer, token }: { viewer: Viewer; token: SendingView['token'] }) {
  const words = viewer.words.ops.sending;
  return (
    <>
      <Badge tone={token.state === 'valid' ? 'good' : 'quiet'}>{words.tokenStates[token.state]}</Badge>
      {token.state === 'valid' && (
        <span class="muted">
          {' '}
          {token.expires_at === null ? (
            words.noEnd
          ) : (
            <>
              {words.validFor} <Countdown viewer={viewer} atMs={Date.parse(token.expires_at)} />
            </>
          )}
        </span>
      )}
    </>
  );
}

function Operations({ viewer, sending, failure }: SendingProps) {
  const { terms, ops } = viewer.words;
  const words = ops.sending;
  const paused = sending.operations.filter(({ state }) => state === 'paused');
  if (paused.length === 0) return <span class="muted">{words.allOpen}</span>;
  return (
    <ul class="ops-list">
      {paused.map(({ operation, since, next_try_at: nextTryAt }) => {
        const name = operation === 'violation' ? viewer.words.opsAlarms.operations.violation : terms.facts[operation];
        return (
          <li id={`operation-${operation}`}>
            <Badge tone="bad">{words.paused}</Badge> <strong>{name}</strong>
            <Since viewer={viewer} at={since} nextTryAt={nextTryAt} />
            {viewer.may('ops') && (
              <Act
                viewer={viewer}
                form={`resume-${operation}`}
                action={`/ops/operations/${operation}/resume`}
                label={words.resume}
                about={words.resumeOf(name)}
                failure={failure}
                hasReason
              />
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** Since when something is so, and when it is tried again; nothing of what is in order. */
function Since({ viewer, at, nextTryAt }: { viewer: Viewer; at: string | null; nextTryAt: string | null }) {
  const words = viewer.words.ops;
  if (at === null && nextTryAt === null) return null;
  return (
    <span class="muted since">
      {at !== null && (
        <>
          {words.since} <Age viewer={viewer} since={at} />
        </>
      )}
      {at !== null && nextTryAt !== null && ' · '}
      {nextTryAt !== null && (
        <>
          {words.nextTry} <Countdown viewer={viewer} atMs={Date.parse(nextTryAt)} />
        </>
      )}
    </span>
  );
}
