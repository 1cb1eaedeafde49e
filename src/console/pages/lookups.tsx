import { ROUTES } from '../../contracts/operator-routes';
import type { ApiAnswer, ApiCallRefusal } from '../../workflow/operator-port';
import { page, type FormFailure, type PageResult, type Pages, type PageVisit, type PageTools } from '../page';
import { PAGES } from '../page-table';
import { bodyOf, requiredIfEmpty } from '../forms';
import { PLATE_TYPES } from '../../domain/vocabulary';
import { valueUnder } from '../messages';
import { Field, PostForm } from '../parts/form';
import { Problem } from '../parts/problem';
import { Empty, Countdown, English, Timestamp, Plate, Ref, UserText } from '../parts/text';
import type { Viewer } from '../viewer';
import type { Child } from 'hono/jsx';

const PATH = '/lookups';
const TICKET_FIELDS = ['zoneId', 'plateNumber', 'plateType'];

export function serveLookups(pages: Pages, { api, settings }: Pick<PageTools, 'api' | 'settings'>): void {
  const show = ({ viewer, response }: PageVisit, entered: URLSearchParams, outcome: ShownLookup | null): PageResult => {
    const refusal = outcome?.kind === 'no_answer' ? outcome.failure.refusal : null;
    if (refusal !== null && refusal.retryAfterMs !== null) {
      response.set('retry-after', String(Math.ceil(refusal.retryAfterMs / 1000)));
    }
    return page(
      viewer.messages.common.lookups,
      <LookupsPage viewer={viewer} isConfigured={settings.isServiceConfigured} entered={entered} outcome={outcome} />,
      { httpStatus: refusal?.httpStatus ?? 200, assets: ['relative-times.js'] },
    );
  };

  // A zone is not personal, so it may be in the address. Pages of violations link to it.
  pages.get(PAGES.lookups.path, PAGES.lookups.role, async (visit) => {
    const zone = visit.query.get('zone_id')?.trim() ?? '';
    if (zone === '') return show(visit, visit.query, null);
    const answer = await api.call(ROUTES.readCapacity, { actor: visit.actor, params: { zone_id: zone } });
    const outcome = resultOf(answer, visit.query, 'capacity', (value) => ({ kind: 'capacity', ...value }));
    return show(visit, visit.query, outcome);
  });

  // A plate must not be in an address, so the response of the form is the page itself.
  pages.post(`${PATH}/ticket`, 'crew', async (posted) => {
    const body = bodyOf(posted.form, { only: TICKET_FIELDS });
    const answer = await api.call(ROUTES.checkTicket, { actor: posted.actor, body });
    const plate = String(body['plateNumber'] ?? '');
    const outcome = resultOf(answer, posted.form, 'ticket', (value) => ({ kind: 'ticket', plate, ...value }));
    return show(posted, posted.form, outcome);
  });
}

function resultOf<T>(
  answer: ApiAnswer<T>,
  entered: URLSearchParams,
  form: 'capacity' | 'ticket',
  found: (value: T) => ShownLookup,
): ShownLookup {
  if (answer.ok) return found(answer.value);
  const failure: FormFailure = { form, refusal: asEntered(answer.refusal, form), entered };
  return { kind: 'no_answer', failure: requiredIfEmpty(failure, TICKET_FIELDS) };
}

/** Maps the field name of the service to that of the form. */
function asEntered(refusal: ApiCallRefusal, form: 'capacity' | 'ticket'): ApiCallRefusal {
  if (form === 'ticket') return refusal;
  return {
    ...refusal,
    details: refusal.details.map(({ field, rule }) => ({ field: field === 'zoneId' ? 'zone_id' : field, rule })),
  };
}

/** The result of a lookup. */
type ShownLookup =
  | { readonly kind: 'capacity'; readonly zoneId: string; readonly availableSlots: number; readonly checked_at: string }
  | { readonly kind: 'ticket'; readonly plate: string; readonly hasActiveTicket: boolean; readonly checked_at: string }
  | { readonly kind: 'no_answer'; readonly failure: FormFailure };

interface LookupsProps {
  readonly viewer: Viewer;
  readonly isConfigured: boolean;
  readonly entered: URLSearchParams;
  readonly outcome: ShownLookup | null;
}

/** The lookup forms and the last result. */
function LookupsPage(props: LookupsProps) {
  const { viewer, isConfigured, outcome } = props;
  const messages = viewer.messages.lookups;
  if (!isConfigured) {
    return (
      <>
        <h1>{viewer.messages.common.lookups}</h1>
        <Empty title={messages.notConfigured} hint={messages.notConfiguredHint} />
        <p class="centered">
          <code dir="ltr">SERVICE_BASE_URL, SERVICE_CLIENT_ID, SERVICE_CLIENT_SECRET</code>
        </p>
      </>
    );
  }
  return (
    <>
      <h1>{viewer.messages.common.lookups}</h1>
      <p class="muted">{messages.intro}</p>
      {outcome !== null && <Result viewer={viewer} outcome={outcome} />}
      <div class="lookups">
        <Capacity {...props} />
        <Ticket {...props} />
      </div>
    </>
  );
}

function Capacity({ viewer, entered, outcome }: LookupsProps) {
  const messages = viewer.messages.lookups;
  const failure = failureOf(outcome);
  return (
    <section class="card" aria-labelledby="capacity-title">
      <h2 id="capacity-title">{messages.capacity.title}</h2>
      <form method="get" action="/lookups" class="form">
        <FieldProblem viewer={viewer} failure={failure} form="capacity" />
        <Field
          viewer={viewer}
          form="capacity"
          name="zone_id"
          label={viewer.messages.terms.zone}
          hint={messages.zoneHint}
          value={entered.get('zone_id') ?? entered.get('zoneId') ?? ''}
          failure={failure}
          autocomplete="off"
          isRequired
          isLatin
        />
        <p class="form-end">
          <button type="submit" class="main">
            {messages.capacity.submit}
          </button>
        </p>
      </form>
    </section>
  );
}

function Ticket({ viewer, entered, outcome }: LookupsProps) {
  const { lookups: messages, violationForm, terms } = viewer.messages;
  const failure = failureOf(outcome);
  const common = { viewer, form: 'ticket', failure, autocomplete: 'off', isRequired: true };
  return (
    <section class="card" aria-labelledby="ticket-title">
      <h2 id="ticket-title">{viewer.messages.violations.sections.ticket}</h2>
      {viewer.may('crew') ? (
        <PostForm viewer={viewer} action="/lookups/ticket">
          <FieldProblem viewer={viewer} failure={failure} form="ticket" />
          <Field
            {...common}
            name="plateNumber"
            label={violationForm.fields.plateNumber}
            hint={violationForm.hints.plateNumber ?? ''}
            value={entered.get('plateNumber') ?? ''}
            maxLength={50}
          />
          <Field
            {...common}
            name="plateType"
            label={violationForm.fields.plateType}
            value={entered.get('plateType') ?? ''}
            options={[
              ['', viewer.messages.towFacts.choose],
              ...PLATE_TYPES.map((each) => [each, violationForm.plateTypes[each]] as const),
            ]}
          />
          <Field
            {...common}
            name="zoneId"
            label={terms.zone}
            value={entered.get('zoneId') ?? entered.get('zone_id') ?? ''}
            isLatin
          />
          <p class="form-end">
            <button type="submit" class="main">
              {messages.ticket.submit}
            </button>
          </p>
        </PostForm>
      ) : (
        <p class="muted">{messages.ticket.mayNot({ role: terms.roles.crew })}</p>
      )}
    </section>
  );
}

/** Invalid fields. A refusal of the service has its own card. */
function FieldProblem(props: { viewer: Viewer; failure: FormFailure | null; form: string }) {
  return props.failure?.refusal.code === 'field_invalid' ? <Problem {...props} /> : null;
}

function failureOf(outcome: ShownLookup | null): FormFailure | null {
  return outcome?.kind === 'no_answer' ? outcome.failure : null;
}

/** The result, or why there is none. */
function Result({ viewer, outcome }: { viewer: Viewer; outcome: ShownLookup }) {
  const messages = viewer.messages.lookups;
  switch (outcome.kind) {
    case 'capacity':
      return (
        <Answer viewer={viewer} at={outcome.checked_at}>
          <p class="lookup-answer">
            <span class="muted">{messages.capacity.slots}</span>{' '}
            <strong>{viewer.formats.number(outcome.availableSlots)}</strong>
          </p>
          <p>
            <span class="muted">{viewer.messages.terms.zone}</span> <Ref>{outcome.zoneId}</Ref>
          </p>
        </Answer>
      );
    case 'ticket':
      return (
        <Answer viewer={viewer} at={outcome.checked_at}>
          <p class={outcome.hasActiveTicket ? 'lookup-answer good' : 'lookup-answer bad'}>
            <strong>
              {outcome.hasActiveTicket ? viewer.messages.taskTypes.types.active_ticket.title : messages.ticket.none}
            </strong>
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
      <h2 id="lookup-result">{viewer.messages.lookups.answer}</h2>
      {children}
      <p class="muted">
        {viewer.messages.lookups.checkedAt} <Timestamp viewer={viewer} at={at} />
      </p>
    </section>
  );
}

function NoAnswer({ viewer, outcome }: { viewer: Viewer; outcome: Extract<ShownLookup, { kind: 'no_answer' }> }) {
  const { lookups: messages, refusals } = viewer.messages;
  const { refusal } = outcome.failure;
  // Fields that fail a rule of ours are named in their form.
  if (refusal.code === 'field_invalid') return null;
  if (refusal.code === 'service_refused') {
    return (
      <div class="problem" role="alert" tabindex={-1} data-focus>
        <h2>{messages.refused}</h2>
        <p>
          {messages.serviceMessage} <UserText>{refusal.message}</UserText>
        </p>
      </div>
    );
  }
  return (
    <div class="problem" role="alert" tabindex={-1} data-focus>
      <h2>{messages.notAnswered}</h2>
      <p>
        {valueUnder(messages.problems, refusal.code) ?? valueUnder(refusals, refusal.code) ?? (
          <English viewer={viewer}>{refusal.message}</English>
        )}
      </p>
      {refusal.retryAfterMs !== null && (
        <p>
          <Countdown viewer={viewer} atMs={viewer.nowMs + refusal.retryAfterMs} sentence={messages.again} />
        </p>
      )}
    </div>
  );
}
