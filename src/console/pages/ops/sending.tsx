import type { SendingView } from '../../../contracts/operator';
import type { FormFailure } from '../../page';
import { Fact, Countdown, Age, Badge } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { ModeSwitch } from '../../parts/mode-switch';
import { ActionForm } from '../../parts/ops';
import { FAILURES_BORNE } from '../../../workflow/ops/alarms';

interface SendingProps {
  readonly viewer: Viewer;
  readonly sending: SendingView;
  readonly failure: FormFailure | null;
}

/** Circuits that block sending, and the rate limits. */
export function Sending({ viewer, sending, failure }: SendingProps) {
  const messages = viewer.messages.ops.sending;
  const { mode, connection, service, held } = sending;
  return (
    <section class="card" id="sending" aria-labelledby="sending-title">
      <h2 id="sending-title">{messages.title}</h2>
      <dl class="facts">
        <Fact label={messages.mode.label}>
          <Badge tone={mode.state === 'live' ? 'good' : 'wait'}>{messages.mode.states[mode.state]}</Badge>
          <Since viewer={viewer} at={mode.since} nextTryAt={null} />
          <ModeSwitch viewer={viewer} mode={mode} failure={failure} />
        </Fact>
        <Fact label={messages.connection}>
          <Badge tone={connection.state === 'working' ? 'good' : 'bad'}>
            {messages.connectionStates[connection.state]}
          </Badge>
          <Since viewer={viewer} at={connection.since} nextTryAt={connection.next_try_at} />
        </Fact>
        <Fact label={messages.token}>
          <Token viewer={viewer} token={sending.token} />
        </Fact>
        <Fact label={viewer.messages.ops.tab.service}>
          <ServiceBadge viewer={viewer} service={service} />{' '}
          <span class="muted">
            {service.failures === 0 ? messages.noFailures : messages.failures({ count: service.failures })}
          </span>
          <Since viewer={viewer} at={service.since} nextTryAt={service.next_try_at} />
        </Fact>
        <Fact label={mode.state === 'live' ? messages.held : messages.notSent}>
          {held === 0 ? <span class="muted">{messages.heldNone}</span> : messages.heldCount({ count: held })}
        </Fact>
        <Fact label={messages.operations}>
          <Operations viewer={viewer} sending={sending} failure={failure} />
        </Fact>
      </dl>
      <Budgets viewer={viewer} budgets={sending.budgets} />
    </section>
  );
}

/** The service may respond with failures only. */
function ServiceBadge({ viewer, service }: { viewer: Viewer; service: SendingView['service'] }) {
  const messages = viewer.messages.ops.sending;
  if (service.state !== 'working') return <Badge tone="bad">{messages.serviceStates[service.state]}</Badge>;
  if (service.failures > FAILURES_BORNE) return <Badge tone="wait">{messages.failing}</Badge>;
  return <Badge tone="good">{messages.serviceStates.working}</Badge>;
}

function Token({ viewer, token }: { viewer: Viewer; token: SendingView['token'] }) {
  const messages = viewer.messages.ops.sending;
  return (
    <>
      <Badge tone={token.state === 'valid' ? 'good' : 'quiet'}>{messages.tokenStates[token.state]}</Badge>
      {token.state === 'valid' && (
        <span class="muted">
          {' '}
          {token.expires_at === null ? (
            messages.noEnd
          ) : (
            <Countdown viewer={viewer} atMs={Date.parse(token.expires_at)} sentence={messages.validFor} />
          )}
        </span>
      )}
    </>
  );
}

function Operations({ viewer, sending, failure }: SendingProps) {
  const { terms, ops } = viewer.messages;
  const messages = ops.sending;
  const paused = sending.operations.filter(({ state }) => state === 'paused');
  if (paused.length === 0) return <span class="muted">{messages.allOpen}</span>;
  return (
    <ul class="ops-list">
      {paused.map(({ operation, since, next_try_at: nextTryAt }) => {
        const name = terms.operations[operation];
        return (
          <li id={`operation-${operation}`}>
            <Badge tone="bad">{messages.paused}</Badge> <strong>{name}</strong>
            <Since viewer={viewer} at={since} nextTryAt={nextTryAt} />
            {viewer.may('ops') && (
              <ActionForm
                viewer={viewer}
                form={`resume-${operation}`}
                action={`/ops/operations/${operation}/resume`}
                label={terms.actions.resume}
                about={messages.resumeOf({ operation: name })}
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

/** Since when a circuit is open, and when it is tried next. */
function Since({ viewer, at, nextTryAt }: { viewer: Viewer; at: string | null; nextTryAt: string | null }) {
  const messages = viewer.messages.ops;
  if (at === null && nextTryAt === null) return null;
  return (
    <span class="muted since">
      {at !== null && (
        <>
          {viewer.messages.withheld.heads.since} <Age viewer={viewer} since={at} />
        </>
      )}
      {at !== null && nextTryAt !== null && ' · '}
      {nextTryAt !== null && <Countdown viewer={viewer} atMs={Date.parse(nextTryAt)} sentence={messages.nextTry} />}
    </span>
  );
}

/** Above this share of its limit a budget is shown as nearly used up. */
const HIGH = 0.8;

/** Calls made and waiting per rate limit. */
function Budgets({ viewer, budgets }: { viewer: Viewer; budgets: SendingView['budgets'] }) {
  const messages = viewer.messages.ops.sending;
  const { formats } = viewer;
  return (
    <>
      <h3>{messages.budgets}</h3>
      <ul class="budgets">
        {budgets.map(({ name, limit, used, waiting, announced_per_minute: announced, closed_until: closedUntil }) => (
          <li>
            <span id={`budget-${name}`}>{messages.budgetNames[name]}</span>
            {limit > 0 ? (
              <meter
                min={0}
                max={limit}
                high={limit * HIGH}
                value={Math.min(used, limit)}
                aria-labelledby={`budget-${name}`}
              />
            ) : (
              <span />
            )}
            <span class="muted">
              {limit > 0
                ? messages.used({ used: formats.number(used), limit: formats.number(limit) })
                : messages.unlimited({ used: formats.number(used) })}
              {announced !== null && ` · ${messages.announced({ limit: formats.number(announced) })}`}
              {waiting > 0 && ` · ${messages.waiting({ count: formats.number(waiting) })}`}
              {closedUntil !== null && (
                <>
                  {' · '}
                  <strong>
                    <Countdown viewer={viewer} atMs={Date.parse(closedUntil)} sentence={messages.closed} />
                  </strong>
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
