import type { AllowedFact } from '../../../domain/tow/allowed-facts';
import { FACTS } from '../../../domain/tow/facts';
import { isTerminal } from '../../../domain/tow/tow';
import type { FactEvent } from '../../../domain/vocabulary';
import { valueUnder } from '../../messages';
import { PostForm, Folded, LiveForm } from '../../parts/form';
import { formOfFact, FactFields, questionOfFact, WhenField, type Allowed } from './fact-fields';
import { FormProblem } from './forms';
import type { TowModel } from './model';
import { Badge } from '../../parts/text';

/** The usual order of facts; the first allowed one is offered first. */
const USUAL: readonly FactEvent[] = ['started', 'detained', 'invoice', 'payment', 'released'];

/** The forms of the allowed facts: the next one open, the others folded. */
export function Facts({ model }: { model: TowModel }) {
  const { viewer, allowed } = model;
  const messages = viewer.messages.towFacts;
  const open = allowed.filter((fact): fact is Allowed => fact.allowed);
  const next = USUAL.flatMap((event) => open.filter((fact) => fact.event === event))[0];
  const others = open.filter((fact) => fact !== next);
  return (
    <section class="card" id="next" aria-labelledby="next-title">
      <h2 id="next-title">{viewer.messages.tow.sections.next}</h2>
      <LiveForm model={model} id="live-facts" about={allowed}>
        {!viewer.may('crew') && <p class="muted">{messages.mayNot({ role: viewer.messages.terms.roles.crew })}</p>}
        {viewer.may('crew') && open.length === 0 && <NoFact model={model} />}
        {next && (
          <div class="fact-next">
            <p class="muted">{messages.explain[next.event]}</p>
            <FactFormOf model={model} fact={next} isNext />
          </div>
        )}
        {others.length > 0 && (
          <>
            {next && <h3 class="others">{messages.others}</h3>}
            {others.map((fact) => (
              <Folded
                label={messages.record[fact.event]}
                isOpen={model.failure?.form === formOfFact(fact.event)}
                group="other-facts"
              >
                <p class="muted">{messages.explain[fact.event]}</p>
                <FactFormOf model={model} fact={fact} />
              </Folded>
            ))}
          </>
        )}
        <NotNow model={model} />
      </LiveForm>
    </section>
  );
}

function FactFormOf({ model, fact, isNext = false }: { model: TowModel; fact: Allowed; isNext?: boolean }) {
  const { viewer, path } = model;
  const { event } = fact;
  const label = viewer.messages.towFacts.record[event];
  return (
    <PostForm
      viewer={viewer}
      action={`${path}/${event}`}
      id={`form-${event}`}
      label={label}
      question={questionOfFact(fact)}
    >
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

/** Why the viewer can record no fact. */
function NoFact({ model }: { model: TowModel }) {
  const { viewer, view, possible } = model;
  const messages = viewer.messages.towFacts;
  const canCome = possible.some((fact) => fact.allowed || laterOf(model, fact) !== null);
  if (isTerminal(view.state) && !canCome) return <p class="muted">{messages.nothing}</p>;
  return linesOf(model).length > 0 ? null : (
    <p class="muted">
      {messages.othersSay({ role: viewer.messages.terms.roles[viewer.may('dispatcher') ? 'ops' : 'dispatcher'] })}
    </p>
  );
}

/** The reasons why an expected fact cannot be recorded now. */
function NotNow({ model }: { model: TowModel }) {
  const { viewer } = model;
  const lines = linesOf(model);
  if (lines.length === 0) return null;
  return (
    <p class="muted not-now">
      {viewer.messages.towFacts.notNow}
      {': '}
      {lines.map(({ event, why }, index) => (
        <>
          {index > 0 && ' · '}
          {viewer.messages.terms.operations[event]} ({why})
        </>
      ))}
    </p>
  );
}

function linesOf(model: TowModel) {
  const { viewer, allowed } = model;
  return allowed.flatMap((fact) => {
    const why = viewer.may(FACTS[fact.event].role) ? laterOf(model, fact) : null;
    return why === null ? [] : [{ event: fact.event, why }];
  });
}

/** What a forbidden fact waits for; null if it is allowed or cannot come any more. */
function laterOf({ viewer, view }: TowModel, fact: AllowedFact): string | null {
  const messages = viewer.messages.towFacts;
  if (fact.allowed) return null;
  if (fact.refusal.kind === 'forbidden') return messages.onlyOps;
  // No invoice can be requested once the tow has ended.
  if (isTerminal(view.state) && fact.refusal.code === 'invoice_required') return null;
  return valueUnder(messages.whyNot, fact.refusal.code);
}

/** The conditions of a release, while the vehicle is started or detained. */
export function Checklist({ model }: { model: TowModel }) {
  const { viewer, view } = model;
  const messages = viewer.messages.towFacts.checklist;
  if (view.state !== 'started' && view.state !== 'detained') return null;
  return (
    <section class="card" id="checklist" aria-labelledby="checklist-title">
      <h2 id="checklist-title">{messages.title}</h2>
      <ul class="checklist">
        {view.release.map(({ item, met, needed }) => (
          <li>
            <span>{messages.items[item]}</span>
            {met ? (
              <Badge tone="good">{messages.met}</Badge>
            ) : (
              <Badge tone={needed ? 'bad' : 'quiet'}>{needed ? messages.missing : messages.notNeeded}</Badge>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
