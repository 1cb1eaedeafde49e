import type { AllowedFact } from '../../../domain/allowed-facts';
import { FACT_ROLES } from '../../../domain/fact-command';
import { isTerminal } from '../../../domain/tow';
import type { FactEvent } from '../../../domain/vocabulary';
import { PostForm } from '../../parts/form';
import { formOfFact } from './fact-field';
import { FactFields, WhenField, type Allowed } from './fact-fields';
import { FormProblem } from './form-problem';
import type { TowModel } from './model';
import { Folded, Offer } from './offer';

/** The usual way of a tow (field-notes, "Usual sequence"): the first of these that is allowed is what comes next. */
const USUAL: readonly FactEvent[] = ['started', 'detained', 'invoice', 'payment', 'released'];

/** What can be said about the tow now: the likely next fact at hand, the others behind their names. */
export function Facts({ model }: { model: TowModel }) {
  const { viewer, allowed } = model;
  const words = viewer.words.towFacts;
  const open = allowed.filter((fact): fact is Allowed => fact.allowed);
  const next = USUAL.flatMap((event) => open.filter((fact) => fact.event === event))[0];
  const others = open.filter((fact) => fact !== next);
  return (
    <section class="card" id="next" aria-labelledby="next-title">
      <h2 id="next-title">{viewer.words.tow.sections.next}</h2>
      <Offer model={model} id="offer-facts" about={allowed}>
        {!viewer.may('crew') && <p class="muted">{words.mayNot(viewer.words.terms.roles.crew)}</p>}
        {viewer.may('crew') && open.length === 0 && <NoFact model={model} />}
        {next && (
          <div class="fact-next">
            <p class="muted">{words.explain[next.event]}</p>
            <FactFormOf model={model} fact={next} isNext />
          </div>
        )}
        {others.length > 0 && (
          <>
            {next && <h3 class="others">{words.others}</h3>}
            {others.map((fact) => (
              <Folded
                label={words.record[fact.event]}
                isOpen={model.failure?.form === formOfFact(fact.event)}
                group="other-facts"
              >
                <p class="muted">{words.explain[fact.event]}</p>
                <FactFormOf model={model} fact={fact} />
              </Folded>
            ))}
          </>
        )}
        <NotNow model={model} />
      </Offer>
    </section>
  );
}

function FactFormOf({ model, fact, isNext = false }: { model: TowModel; fact: Allowed; isNext?: boolean }) {
  const { viewer, path } = model;
  const { event } = fact;
  const label = viewer.words.towFacts.record[event];
  return (
    <PostForm viewer={viewer} action={`${path}/${event}`} id={`form-${event}`} label={label}>
      <FormProblem model={model} form={formOfFact(event)} />
      <FactFields model={model} fact={fact} />
      <WhenField model={model} fact={fact} />
      <p class="form-end">
        <button type="submit" class={isNext ? 'main' : event === 'canceled' ? 'danger' : ''}>
          {label}
        </button>
      </p>
    </PostForm>
  );
}

/** Nothing can be said by this reader: because nothing can come any more, or because others say it. */
function NoFact({ model }: { model: TowModel }) {
  const { viewer, view, possible } = model;
  const words = viewer.words.towFacts;
  const canCome = possible.some((fact) => fact.allowed || laterOf(model, fact) !== null);
  if (isTerminal(view.state) && !canCome) return <p class="muted">{words.nothing}</p>;
  return linesOf(model).length > 0 ? null : (
    <p class="muted">{words.othersSay(viewer.words.terms.roles[viewer.may('dispatcher') ? 'ops' : 'dispatcher'])}</p>
  );
}

/** What is not allowed has no form; where it may be expected, one line says why not. */
function NotNow({ model }: { model: TowModel }) {
  const { viewer } = model;
  const lines = linesOf(model);
  if (lines.length === 0) return null;
  return (
    <p class="muted not-now">
      {viewer.words.towFacts.notNow}
      {': '}
      {lines.map(({ event, why }, index) => (
        <>
          {index > 0 && ' · '}
          {viewer.words.terms.facts[event]} ({why})
        </>
      ))}
    </p>
  );
}

function linesOf(model: TowModel) {
  const { viewer, allowed } = model;
  return allowed.flatMap((fact) => {
    const why = viewer.may(FACT_ROLES[fact.event]) ? laterOf(model, fact) : null;
    return why === null ? [] : [{ event: fact.event, why }];
  });
}

/** What a fact that is not allowed waits for; null for one that is allowed, or that cannot come any more. */
function laterOf({ viewer, view }: TowModel, fact: AllowedFact): string | null {
  const words = viewer.words.towFacts;
  if (fact.allowed) return null;
  if (fact.refusal.kind === 'forbidden') return words.onlyOps;
  // Nobody can ask for an invoice any more once the tow is over.
  if (isTerminal(view.state) && fact.refusal.code === 'invoice_required') return null;
  return words.whyNot[fact.refusal.code] ?? null;
}
