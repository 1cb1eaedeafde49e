import type { Child } from 'hono/jsx';
import { Field, PostForm, type FieldProps, digestOf, Folded, LiveForm } from '../../parts/form';
import type { TowModel } from './model';
import { Problem } from '../../parts/problem';

/** A folded form for dispatch data. */
export function LocalForm({
  model,
  name,
  action,
  label,
  about,
  replaces,
  isDanger = false,
  children,
}: {
  model: TowModel;
  /** Of the form on its page. */
  name: string;
  /** The path after that of the tow. */
  action: string;
  label: string;
  /** The data that the form depends on; see `LiveForm`. */
  about: unknown;
  /** The data that the form replaces: the form is refused if it has changed (route.ts). */
  replaces?: unknown;
  isDanger?: boolean;
  children?: Child;
}) {
  const { viewer, failure, path } = model;
  return (
    <LiveForm model={model} id={`live-${name}`} about={about}>
      <Folded label={label} isOpen={failure?.form === name}>
        <PostForm
          viewer={viewer}
          action={`${path}/${action}`}
          label={label}
          question={replaces === undefined ? null : digestOf(replaces)}
        >
          <FormProblem model={model} form={name} />
          {children}
          <p class="form-end">
            <button type="submit" class={isDanger ? 'danger' : 'main'}>
              {label}
            </button>
          </p>
        </PostForm>
      </Folded>
    </LiveForm>
  );
}

/** A field of a dispatch form. */
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

/** The invalid fields of a form. Other refusals are shown at the top of the page. */
export function FormProblem({ model: { viewer, failure }, form }: { model: TowModel; form: string }) {
  return failure?.refusal.httpStatus === 422 ? <Problem viewer={viewer} failure={failure} form={form} /> : null;
}
