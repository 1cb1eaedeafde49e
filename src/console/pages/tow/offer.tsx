import { createHash } from 'node:crypto';
import type { Child } from 'hono/jsx';
import type { TowModel } from './model';

/**
 * Forms that stand while the page around them is refreshed (assets/scripts/tow.js). `about` is all that they depend on: a
 * refresh that brings the same leaves them alone; another one replaces them, unless somebody has begun to fill them in,
 * who is told instead.
 */
export function Offer({
  model,
  id,
  about,
  children,
}: {
  model: TowModel;
  id: string;
  about: unknown;
  children: Child;
}) {
  const words = model.viewer.words.tow;
  return (
    <div id={id} class="offer" data-offer={digestOf(about)}>
      <p class="stale" role="status" data-stale hidden>
        {words.changed} <a href={model.path}>{words.loadAgain}</a>
      </p>
      {children}
    </div>
  );
}

/** Says whether two are the same, and nothing of what they say. */
function digestOf(about: unknown): string {
  return createHash('sha256').update(JSON.stringify(about)).digest('hex').slice(0, 16);
}

/** A form behind its name: open when it is the one that was refused. */
export function Folded({
  label,
  isOpen,
  group,
  class: className = 'folded',
  children,
}: {
  label: Child;
  isOpen: boolean;
  /** Of those of one group only one is open. */
  group?: string;
  class?: string;
  children: Child;
}) {
  return (
    <details
      class={className}
      {...(isOpen ? { open: true, 'data-open': true } : {})}
      {...(group === undefined ? {} : { name: group })}
    >
      <summary>{label}</summary>
      <div class="folded-body">{children}</div>
    </details>
  );
}
