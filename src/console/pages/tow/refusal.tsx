import { FACT_EVENTS } from '../../../domain/vocabulary';
import { Problem } from '../../parts/problem';
import { decisionsOn, DECISIONS, formOfDecision } from './decide';
import { formOfFact } from './fact-field';
import { waitingOf, type TowModel } from './model';

/**
 * Why a form had no effect, at the top of the page: where the state of the tow forbade it, since the form may not be
 * there any more. What is wrong with a field is said in its form (`FormProblem`). Stands outside of what is fetched anew:
 * it stays, with what was entered, until the page is left.
 */
export function Refusal({ model }: { model: TowModel }) {
  const { viewer, failure } = model;
  if (!failure || (failure.refusal.httpStatus === 422 && offers(model, failure.form))) return null;
  return <Problem viewer={viewer} failure={failure} form={failure.form} showsEntered />;
}

/** False for a form that was there when it was sent, and is not allowed any more. */
function offers(model: TowModel, form: string): boolean {
  const { allowed, record } = model;
  const event = FACT_EVENTS.find((each) => formOfFact(each) === form);
  if (event) return allowed.some((fact) => fact.event === event && fact.allowed);
  return record.reports.every((report) => {
    const decision = DECISIONS.find((each) => formOfDecision(report, each) === form);
    const isHead = waitingOf(model, report)?.kind !== 'behind';
    return decision === undefined || decisionsOn(record, report, isHead).includes(decision);
  });
}
