import { OPERATIONS } from '../../../contracts/service/operations';
import { dependsOnTicket } from '../../../domain/violation/violation';
import { ACCEPTED_HOW } from '../../../domain/vocabulary';
import { maskedBody } from '../../mask';
import { Attempts as AttemptList } from '../../parts/attempts';
import { ruleIn, Timestamp, Ref, UserText, Fact, Card } from '../../parts/text';
import { PostForm } from '../../parts/form';
import { ErrorText } from '../../parts/error-text';
import { oneOf } from '../../viewer';
import type { ViolationModel } from './model';

/** Warnings about fields that look wrong and are sent unchanged. */
export function Warnings({ model: { viewer, view } }: { model: ViolationModel }) {
  const { violations: messages } = viewer.messages;
  if (view.warnings.length === 0) return null;
  return (
    <Card id="warnings" title={messages.sections.warnings}>
      <ul class="plain-list">
        {view.warnings.map(({ field, rule }) => (
          <li>
            <strong>{labelOf(viewer.messages.violationForm.fields, field)}</strong>: {ruleIn(viewer, rule)}
          </li>
        ))}
      </ul>
      <p class="muted">{messages.warningsHint}</p>
    </Card>
  );
}

function labelOf(labels: Readonly<Record<string, string>>, field: string): string {
  return labels[field] ?? field;
}

/** What the service has of it. */
export function Service({ model }: { model: ViolationModel }) {
  const { viewer, view, waiting, personal } = model;
  const { violations: messages, common } = viewer.messages;
  const way = oneOf(ACCEPTED_HOW, view.accepted_how ?? undefined);
  return (
    <Card id="service" title={messages.sections.service}>
      <dl class="facts">
        <Fact label={viewer.messages.tow.serviceViolation}>
          {view.violation_reference_id === null ? (
            <span class="muted">{messages.noReference}</span>
          ) : (
            <Ref>{view.violation_reference_id}</Ref>
          )}
        </Fact>
        {view.service_status !== null && (
          <Fact label={viewer.messages.why.label}>
            <Ref>{view.service_status}</Ref>
          </Fact>
        )}
        {view.can_tow !== null && <Fact label={messages.canTow}>{view.can_tow ? common.yes : common.no}</Fact>}
        {view.accepted_at !== null && (
          <Fact label={messages.accepted}>
            <Timestamp viewer={viewer} at={view.accepted_at} />{' '}
            {way !== null && way !== 'proved_by_webhook' && messages.acceptedHow[way]}
          </Fact>
        )}
        {view.reason !== null && (
          <Fact label={common.reason}>
            <UserText>{view.reason}</UserText>
          </Fact>
        )}
        {view.last_error !== null && (
          <Fact label={viewer.messages.towReports.lastError}>
            <ErrorText viewer={viewer} error={view.last_error} />
          </Fact>
        )}
        {view.next_attempt_at !== null && waiting.kind === 'next_try' && (
          <Fact label={viewer.messages.towReports.nextTry}>
            <Timestamp viewer={viewer} at={view.next_attempt_at} />
          </Fact>
        )}
        {/* A violation of unknown outcome is not sent again without a person. */}
        {view.give_up_at !== null && view.state !== 'unknown' && (
          <Fact label={viewer.messages.towReports.giveUp}>
            <Timestamp viewer={viewer} at={view.give_up_at} />
          </Fact>
        )}
        {!viewer.isInField && (
          <Fact label={messages.api}>
            <bdi dir="ltr">{OPERATIONS[view.api === 'guide' ? 'violation_guide' : 'violation'].path}</bdi>
          </Fact>
        )}
      </dl>
      {view.broken_answer !== null && (
        <>
          <p>{messages.brokenAnswer}</p>
          <pre tabindex={0} aria-label={viewer.messages.towReports.lastError}>
            {maskedBody(view.broken_answer, personal)}
          </pre>
        </>
      )}
    </Card>
  );
}

export function Tows({ model: { viewer, view } }: { model: ViolationModel }) {
  const messages = viewer.messages.violations;
  return (
    <Card id="tows" title={messages.sections.tows}>
      {view.towing_reference_ids.length === 0 ? (
        <p class="muted">{messages.noTowsYet}</p>
      ) : (
        <ul class="plain-list">
          {view.towing_reference_ids.map((ref) => (
            <li>
              <a href={`/tows/${encodeURIComponent(ref)}`}>
                <Ref>{ref}</Ref>
              </a>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

/** What was found out about a ticket before it was sent. */
export function Ticket({ model }: { model: ViolationModel }) {
  const { viewer, view } = model;
  const messages = viewer.messages.violations;
  const { ticket } = view;
  return (
    <Card id="ticket" title={messages.sections.ticket}>
      {ticket === null ? (
        <p class="muted">{dependsOnTicket(view.form) ? messages.ticket.notYet : messages.ticket.never}</p>
      ) : (
        <p>
          {ticket.has_active_ticket ? messages.ticket.active : messages.ticket.none}
          <br />
          <span class="muted">
            {messages.ticket.checked} <Timestamp viewer={viewer} at={ticket.checked_at} />
          </span>
        </p>
      )}
      {view.ticket_overruled && <p>{messages.ticket.overruled}</p>}
      {viewer.may('crew') && <AskTicket model={model} />}
    </Card>
  );
}

export function Attempts({ model: { viewer, view } }: { model: ViolationModel }) {
  return (
    <Card id="attempts" title={viewer.messages.attempts.title}>
      <AttemptList viewer={viewer} log={view.log} count={view.attempts} />
    </Card>
  );
}

/** Asks for an active ticket of this vehicle right now; the plate goes in the body. */
function AskTicket({ model: { viewer, view } }: { model: ViolationModel }) {
  const { zoneId, plateNumber, plateType } = view.form;
  return (
    <PostForm viewer={viewer} action="/lookups/ticket" class="inline">
      <input type="hidden" name="zoneId" value={zoneId} />
      <input type="hidden" name="plateNumber" value={plateNumber} />
      <input type="hidden" name="plateType" value={plateType} />
      <button type="submit">{viewer.messages.violations.askTicket}</button>
    </PostForm>
  );
}
