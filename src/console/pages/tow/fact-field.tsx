import type { FactForm } from '../../../domain/allowed-facts';
import type { FactEvent } from '../../../domain/vocabulary';
import { Field, type FieldProps } from '../../parts/form';
import type { TowModel } from './model';

/** What a form of this fact must know. */
export type FormOf<E extends FactEvent> = Extract<FactForm, { event: E }>;

/** The name of its form on the page. */
export const formOfFact = (event: FactEvent) => `fact-${event}`;

export type FieldName = keyof TowModel['viewer']['words']['towFacts']['fields'];

/** A field of a fact, with its label. */
export function FactField({
  model,
  event,
  name,
  ...props
}: { model: TowModel; event: FactEvent; name: FieldName } & Omit<FieldProps, 'viewer' | 'name' | 'form' | 'label'>) {
  const { viewer, failure } = model;
  const label = viewer.words.towFacts.fields[name];
  return <Field viewer={viewer} form={formOfFact(event)} name={name} label={label} failure={failure} {...props} />;
}

/** True when one of these fields was refused, or filled in when the form was. */
export function wasUsed({ failure }: TowModel, event: FactEvent, names: readonly string[]): boolean {
  if (failure?.form !== formOfFact(event)) return false;
  const { entered, refusal } = failure;
  return names.some((name) => (entered.get(name) ?? '') !== '' || refusal.details.some(({ field }) => field === name));
}
