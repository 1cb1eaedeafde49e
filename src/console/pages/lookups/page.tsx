import { PLATE_TYPES } from '../../../domain/vocabulary';
import type { Failure } from '../../answers';
import { Field, PostForm } from '../../parts/form';
import { Problem } from '../../parts/problem';
import { Empty } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { Result } from './result';

/** What came of a question. */
export type Outcome =
  | { readonly kind: 'capacity'; readonly zoneId: string; readonly availableSlots: number; readonly checked_at: string }
  | { readonly kind: 'ticket'; readonly plate: string; readonly hasActiveTicket: boolean; readonly checked_at: string }
  | { readonly kind: 'no_answer'; readonly failure: Failure };

export interface LookupsProps {
  readonly viewer: Viewer;
  readonly asksService: boolean;
  readonly entered: URLSearchParams;
  readonly outcome: Outcome | null;
}

/** What must be set before anything can be asked. */
const VARIABLES = 'SERVICE_BASE_URL, SERVICE_CLIENT_ID, SERVICE_CLIENT_SECRET';

/** Questions to the service, each a form, and the answer to the last one. */
export function LookupsPage(props: LookupsProps) {
  const { viewer, asksService, outcome } = props;
  const words = viewer.words.lookups;
  if (!asksService) {
    return (
      <>
        <h1>{words.title}</h1>
        <Empty title={words.notConfigured} hint={words.notConfiguredHint} />
        <p class="centered">
          <code dir="ltr">{VARIABLES}</code>
        </p>
      </>
    );
  }
  return (
    <>
      <h1>{words.title}</h1>
      <p class="muted">{words.intro}</p>
      {outcome !== null && <Result viewer={viewer} outcome={outcome} />}
      <div class="lookups">
        <Capacity {...props} />
        <Ticket {...props} />
      </div>
    </>
  );
}

function Capacity({ viewer, entered, outcome }: LookupsProps) {
  const words = viewer.words.lookups;
  const failure = failureOf(outcome);
  return (
    <section class="card" aria-labelledby="capacity-title">
      <h2 id="capacity-title">{words.capacity.title}</h2>
      <form method="get" action="/lookups" class="form">
        <FieldProblem viewer={viewer} failure={failure} form="capacity" />
        <Field
          viewer={viewer}
          form="capacity"
          name="zone_id"
          label={words.zone}
          hint={words.zoneHint}
          value={entered.get('zone_id') ?? entered.get('zoneId') ?? ''}
          failure={failure}
          autocomplete="off"
          isRequired
          isLatin
        />
        <p class="form-end">
          <button type="submit" class="main">
            {words.capacity.submit}
          </button>
        </p>
      </form>
    </section>
  );
}

function Ticket({ viewer, entered, outcome }: LookupsProps) {
  const { lookups: words, violationForm, terms } = viewer.words;
  const failure = failureOf(outcome);
  const common = { viewer, form: 'ticket', failure, autocomplete: 'off', isRequired: true };
  return (
    <section class="card" aria-labelledby="ticket-title">
      <h2 id="ticket-title">{words.ticket.title}</h2>
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
              ['', violationForm.choose],
              ...PLATE_TYPES.map((each) => [each, violationForm.plateTypes[each]] as const),
            ]}
          />
          <Field
            {...common}
            name="zoneId"
            label={words.zone}
            value={entered.get('zoneId') ?? entered.get('zone_id') ?? ''}
            isLatin
          />
          <p class="form-end">
            <button type="submit" class="main">
              {words.ticket.submit}
            </button>
          </p>
        </PostForm>
      ) : (
        <p class="muted">{words.ticket.mayNot(terms.roles.crew)}</p>
      )}
    </section>
  );
}

/** Fields that fail a rule of ours; what the service says stands in a card of its own. */
function FieldProblem(props: { viewer: Viewer; failure: Failure | null; form: string }) {
  return props.failure?.refusal.code === 'field_invalid' ? <Problem {...props} /> : null;
}

function failureOf(outcome: Outcome | null): Failure | null {
  return outcome?.kind === 'no_answer' ? outcome.failure : null;
}
