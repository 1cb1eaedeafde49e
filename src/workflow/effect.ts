import type { Refusal } from '../domain/refusal';
import type { Saved } from './ports';

/** What a request of a person led to; `value` is its answer. */
export type Effect<T = null> =
  | { readonly kind: 'done'; readonly value: T }
  /** A request under the same Idempotency-Key had its effect before; this one has none. */
  | { readonly kind: 'remembered'; readonly fingerprint: string }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export function done<T>(value: T): Effect<T> {
  return { kind: 'done', value };
}

export function refused(refusal: Refusal): Effect<never> {
  return { kind: 'refused', refusal };
}

/** What a write of the store led to; `unknown` is the refusal when there is no such thing. */
export function effectOf(saved: Saved, unknown: Refusal): Effect {
  switch (saved.kind) {
    case 'saved':
      return done(null);
    case 'remembered':
      return saved;
    case 'unknown':
      return refused(unknown);
  }
}
