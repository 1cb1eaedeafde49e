import type { Child } from 'hono/jsx';
import { Countdown } from '../../parts/countdown';
import { English } from '../../parts/english';
import { Moment, Plate, Ref, Written } from '../../parts/text';
import { oneOf, type Viewer } from '../../viewer';
import type { Outcome } from './page';

/** What the service answered, or why there is no answer; it is what is read next. */
export function Result({ viewer, outcome }: { viewer: Viewer; outcome: Outcome }) {
  const words = viewer.words.lookups;
  switch (outcome.kind) {
    case 'capacity':
      return (
        <Answer viewer={viewer} at={outcome.checked_at}>
          <p class="lookup-answer">
            <span class="muted">{words.capacity.slots}</span>{' '}
            <strong>{viewer.formats.number(outcome.availableSlots)}</strong>
          </p>
          <p>
            <span class="muted">{words.zone}</span> <Ref>{outcome.zoneId}</Ref>
          </p>
        </Answer>
      );
    case 'ticket':
      return (
        <Answer viewer={viewer} at={outcome.checked_at}>
          <p class={outcome.hasActiveTicket ? 'lookup-answer good' : 'lookup-answer bad'}>
            <strong>{outcome.hasActiveTicket ? words.ticket.active : words.ticket.none}</strong>
          </p>
          <p>
            <Plate plate={outcome.plate} />
          </p>
        </Answer>
      );
    case 'no_answer':
      return <NoAnswer viewer={viewer} outcome={outcome} />;
  }
}

function Answer({ viewer, at, children }: { viewer: Viewer; at: string; children: Child }) {
  return (
    <section class="card lookup-result" aria-labelledby="lookup-result" tabindex={-1} data-focus>
      <h2 id="lookup-result">{viewer.words.lookups.answer}</h2>
      {children}
      <p class="muted">
        {viewer.words.lookups.checkedAt} <Moment viewer={viewer} at={at} />
      </p>
    </section>
  );
}

/** Codes of the API that say why the service gave no answer. */
const CODES = [
  'budget_spent',
  'service_connection_lost',
  'service_forbids',
  'service_unavailable',
  'answer_broken',
  'service_not_configured',
] as const;

function NoAnswer({ viewer, outcome }: { viewer: Viewer; outcome: Extract<Outcome, { kind: 'no_answer' }> }) {
  const { lookups: words, refusals } = viewer.words;
  const { refusal } = outcome.failure;
  // Fields that fail a rule of ours are named in their form.
  if (refusal.code === 'field_invalid') return null;
  if (refusal.code === 'service_refused') {
    return (
      <div class="problem" role="alert" tabindex={-1} data-focus>
        <h2>{words.refused}</h2>
        <p>
          {words.itsWords} <Written>{refusal.message}</Written>
        </p>
      </div>
    );
  }
  const code = oneOf(CODES, refusal.code);
  return (
    <div class="problem" role="alert" tabindex={-1} data-focus>
      <h2>{words.notAnswered}</h2>
      <p>
        {code === null
          ? (refusals.messageOf(refusal.code) ?? <English viewer={viewer}>{refusal.message}</English>)
          : words.problems[code]}
      </p>
      {refusal.retryAfterMs !== null && (
        <p>
          {words.again} <Countdown viewer={viewer} atMs={viewer.nowMs + refusal.retryAfterMs} />
        </p>
      )}
    </div>
  );
}
