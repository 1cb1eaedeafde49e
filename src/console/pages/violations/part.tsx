import type { Child } from 'hono/jsx';

/** A part of the page of a violation, under its name. */
export function Part({ id, title, children }: { id: string; title: string; children: Child }) {
  return (
    <section class="card" id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {children}
    </section>
  );
}

/** One row of a list of facts. */
export function Fact({ label, children }: { label: string; children: Child }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  );
}
