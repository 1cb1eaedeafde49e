import type { Child } from 'hono/jsx';
import { Field, PostForm, type FieldProps } from '../../parts/form';
import { FormProblem } from './form-problem';
import type { TowModel } from './model';
import { Folded, Offer } from './offer';

/** A form about what the operator keeps for itself, behind its name. */
export function LocalForm({
  model,
  name,
  action,
  label,
  about,
  isDanger = false,
  children,
}: {
  model: TowModel;
  /** Of the form on its page. */
  name: string;
  /** What follows the address of the tow. */
  action: string;
  label: string;
  /** What the form depends on. */
  about: unknown;
  isDanger?: boolean;
  children?: Child;
}) {
  const { viewer, failure, path } = model;
  return (
    <Offer model={model} id={`offer-${name}`} about={about}>
      <Folded label={label} isOpen={failure?.form === name}>
        <PostForm viewer={viewer} action={`${path}/${action}`} label={label}>
          <FormProblem model={model} form={name} />
          {children}
          <p class="form-end">
            <button type="submit" class={isDanger ? 'danger' : 'main'}>
              {label}
            </button>
          </p>
        </PostForm>
      </Folded>
    </Offer>
  );
}

/** A field of such a form. */
export function LocalField({ model, ...props }: { model: TowModel } & Omit<FieldProps, 'viewer' | 'failure'>) {
  return <Field viewer={model.viewer} failure={model.failure} autocomplete="off" {...props} />;
}

/** A card of the dispatch column. */
export function LocalCard({ id, title, children }: { id: string; title: string; children: Child }) {
  return (
    <section class="card local" id={id} aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`}>{title}</h3>
      {children}
    </section>
  );
}
