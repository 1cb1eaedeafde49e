import type { Actor } from '../domain/audit';

/**
 * The sign-in of people through an identity provider. A ticket holds what the console must know when the person comes
 * back. It travels in a cookie of the browser that began, sealed, so any console process can finish a sign-in.
 */
export interface IdentityProvider {
  /** Begins a sign-in that leads back to `next`, a path of the console. */
  begin(next: string): Promise<BegunSignIn>;
  /** Finishes it with the query of the address that the provider has sent the browser to, and the ticket, if any. */
  finish(query: URLSearchParams, ticket: string | null): Promise<FinishedSignIn>;
}

export type BegunSignIn =
  /** `address`: where the browser goes to sign in. */
  | { readonly kind: 'begun'; readonly address: string; readonly ticket: string }
  /** The provider cannot be reached, or does not answer as a provider. */
  | { readonly kind: 'unavailable' };

/** `next` is the path that the sign-in leads back to. */
export type FinishedSignIn =
  | { readonly kind: 'signed_in'; readonly actor: Actor; readonly next: string }
  | { readonly kind: SignInProblem; readonly next: string };

/**
 * Why a person is not signed in.
 *
 * - no_role: known to the provider, but without a role here.
 * - not_begun: this browser has not begun the sign-in, or too long ago.
 * - refused: the provider refused, or its answer proves nothing.
 * - unavailable: the provider cannot be reached.
 */
export const SIGN_IN_PROBLEMS = ['no_role', 'not_begun', 'refused', 'unavailable'] as const;
export type SignInProblem = (typeof SIGN_IN_PROBLEMS)[number];

/** The time that a person has to sign in at the provider. */
export const SIGN_IN_LIMIT_MS = 10 * 60_000;
