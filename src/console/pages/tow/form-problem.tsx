import { Problem } from '../../parts/problem';
import type { TowModel } from './model';

/** What is wrong with the fields of a form. What the state of the tow forbids is said at the top (refusal.tsx). */
export function FormProblem({ model: { viewer, failure }, form }: { model: TowModel; form: string }) {
  return failure?.refusal.httpStatus === 422 ? <Problem viewer={viewer} failure={failure} form={form} /> : null;
}
