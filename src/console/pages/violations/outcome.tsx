import { OPERATIONS } from '../../../contracts/operations';
import { dependsOnTicket } from '../../../domain/violation';
import { maskedBody } from '../../mask';
import { Attempts as AttemptList } from '../../parts/attempts';
import { ruleIn } from '../../parts/english';
import { PostForm } from '../../parts/form';
import { Moment, Ref, Written } from '../../parts/text';
import { LastWords } from '../../parts/why';
import { oneOf } from '../../viewer';
import type { ViolationModel } from './model';
import { Fact, Part } from './part';

/** What looks wrong in the form and is sent all the same. */
export function Warnings({ model: { viewer, view } }: { model: ViolationModel }) {
  const { violations: words } = viewer.words;
  if (view.warnings.length === 0) return null;
  return (
    <Part id="warnings" title={words.sections.warnings}>
      <ul class="plain-list">
        {view.warnings.map(({ field, rule }) => (
          <li>
            <strong>{labelOf(viewer.words.violationForm.fields, field)}</strong>: {ruleIn(viewer, rule)}
          </li>
        ))}
      </ul>
      <p class="muted">{words.warningsHint}</p>
    </Part>
  );
}

function labelOf(labels: Readonly<Record<string, string>>, field: string): string {
  return labels[field] ?? field;
}

const WAYS = ['answered', 'proved_by_tow_request', 'late_answer', 'by_hand'] as const;

/** What the service has of it. */
export function Service({ model }: { model: ViolationModel }) {
  const { viewer, view, personal } = model;
  const { violations: words, common } = viewer.words;
  const way = oneOf(WAYS, view.accepted_how ?? undefined);
  return (
    <Part id="service" title={words.sections.service}>
      <dl class="facts">
        <Fact label={words.reference}>
          {view.violation_reference_id === null ? (
            <span class="muted">{words.noReference}</span>
          ) : (
            <Ref>{view.violation_reference_id}</Ref>
          )}
        </Fact>
        {view.service_status !== null && (
          <Fact label={words.status}>
            <Ref>{view.service_status}</Ref>
          </Fact>
        )}
        {view.can_tow !== null && <Fact label={words.canTow}>{view.can_tow ? common.yes : common.no}</Fact>}
        {view.accepted_at !== null && (
          <Fact label={words.accepted}>
            <Moment viewer={viewer} at={view.accepted_at} /> {way !== null && words.acceptedHow[way]}
          </Fact>
        )}
        {view.reason !== null && (
          <Fact label={words.reason}>
            <Written>{view.reason}</Written>
          </Fact>
        )}
        {view.last_error !== null && (
          <Fact label={words.lastAnswer}>
            <LastWords error={view.last_error} />
          </Fact>
        )}
        {view.next_attempt_at !== null && (
          <Fact label={words.nextTry}>
            <Moment viewer={viewer} at={view.next_attempt_at} />
          </Fact>
        )}
        {view.give_up_at !== null && (
          <Fact label={words.giveUp}>
            <Moment viewer={viewer} at={view.give_up_at} />
          </Fact>
        )}
        <Fact label={words.api}>
          <bdi dir="ltr">{OPERATIONS[view.api === 'guide' ? 'violation_guide' : 'violation'].path}</bdi>
        </Fact>
      </dl>
      {view.broken_answer !== null && (
        <>
          <p>{words.brokenAnswer}</p>
          <pre tabindex={0} aria-label={words.lastAnswer}>
            {maskedBody(view.broken_answer, personal)}
          </pre>
        </>
      )}
    </Part>
  );
}

export function Tows({ model: { viewer, view } }: { model: ViolationModel }) {
  const words = viewer.words.violations;
  return (
    <Part id="tows" title={words.sections.tows}>
      {view.towing_reference_ids.length === 0 ? (
        <p class="muted">{words.noTowsYet}</p>
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
    </Part>
  );
}

/** What was found out about a ticket before it was sent. */
export function Ticket({ model }: { model: ViolationModel }) {
  const { viewer, view, record } = model;
  const words = viewer.words.violations;
  const { ticket } = view;
  return (
    <Part id="ticket" title={words.sections.ticket}>
      {ticket === null ? (
        <p class="muted">{dependsOnTicket(record.violation.form) ? words.ticket.notYet : words.ticket.never}</p>
      ) : (
        <p>
          {ticket.has_active_ticket ? words.ticket.active : words.ticket.none}
          <br />
          <span class="muted">
            {words.ticket.checked} <Moment viewer={viewer} at={ticket.checked_at} />
          </span>
        </p>
      )}
      {record.ticketOverruled && <p>{words.ticket.overruled}</p>}
      {viewer.may('crew') && <AskTicket model={model} />}
    </Part>
  );
}

export function Attempts({ model: { viewer, view } }: { model: ViolationModel }) {
  return (
    <Part id="attempts" title={viewer.words.violations.sections.attempts}>
      <AttemptList viewer={viewer} log={view.log} count={view.attempts} />
    </Part>
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
      <button type="submit">{viewer.words.violations.askTicket}</button>
    </PostForm>
  );
}
