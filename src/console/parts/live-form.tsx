import type { Child } from 'hono/jsx';
import { sha256Hex } from '../../platform/hash';
import type { Viewer } from '../viewer';

/**
 * Keeps forms during a live refresh (assets/scripts/tow.js). The refresh replaces them only if `about` changed and the
 * user has not edited them; otherwise it shows a stale notice.
 */
export function LiveForm({
  model,
  id,
  about,
  children,
}: {
  /** The viewer, and the address that loads the page again. */
  model: { readonly viewer: Viewer; readonly path: string };
  id: string;
  about: unknown;
  children: Child;
}) {
  const messages = model.viewer.messages.tow;
  return (
    <div id={id} class="live-form" data-live-form={digestOf(about)}>
      <p class="stale" role="status" data-stale hidden>
        {messages.changed} <a href={model.path}>{messages.loadAgain}</a>
      </p>
      {children}
    </div>
  );
}

/** Compares values without writing them into the page; also as the question of a form (`submit`). */
export function digestOf(about: unknown): string {
  return sha256Hex(JSON.stringify(about)).slice(0, 16);
}

/** A form in a `<details>` element, open when its last submission was refused. */
export function Folded({
  label,
  isOpen,
  group,
  class: className = 'folded',
  children,
}: {
  label: Child;
  isOpen: boolean;
  /** At most one form of a group is open. */
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
