import type { Actor } from '../domain/ops/audit';
import { conflict, unknown } from '../domain/refusal';

/**
 * The sign-in of people through an identity provider. A ticket holds what the console must know when the person comes
 * back. It travels in a cookie of the browser that began, so any console process can finish a sign-in.
 */
export interface IdentityProvider {
  /** Begins a sign-in that leads back to `next`, a path of the console. */
  begin(next: string, from: SignInBrowser): Promise<BegunSignIn>;
  /** Finishes it with the query of the address that the provider has sent the browser to, and the ticket, if any. */
  finish(query: URLSearchParams, from: SignInBrowser & { readonly ticket: string | null }): Promise<FinishedSignIn>;
  /** Where the browser ends its session at the provider; null without such an address, or while the provider is away. */
  signOutAddress(): Promise<string | null>;
}

/** `address`: the IP address of the browser, as the trusted proxies name it. */
interface SignInBrowser {
  readonly address: string | undefined;
}

/** Each count returns null, or the ms until the limit allows it again. Shared by all processes. */
export interface SignInLimit {
  /** Counts a sign-in that a source begins, or a return to none that its browser has begun. */
  countStart(source: string): Promise<number | null>;
  /** Counts a return to the sign-in with this state, for which the provider is called. */
  countReturn(state: string): Promise<number | null>;
  /** Takes back the count of a start that led to a session, so that people behind one address do not block each other. */
  forgiveStart(source: string): Promise<void>;
}

export type BegunSignIn =
  /** `address`: where the browser goes to sign in. */
  | { readonly kind: 'begun'; readonly address: string; readonly ticket: string }
  /** The provider cannot be reached, or does not answer as a provider. */
  | { readonly kind: 'unavailable' }
  | RateLimited;

/** Too many sign-ins that were not finished, or too many returns to one. */
interface RateLimited {
  readonly kind: 'rate_limited';
  readonly retryAfterMs: number;
}

/** `next` is the path that the sign-in leads back to. */
export type FinishedSignIn =
  | { readonly kind: 'signed_in'; readonly actor: Actor; readonly next: string }
  | { readonly kind: Exclude<SignInProblem, 'rate_limited'>; readonly next: string }
  | RateLimited;

/**
 * Why a person is not signed in.
 *
 * - no_role: known to the provider, but without a role here.
 * - not_begun: this browser has not begun the sign-in, or too long ago.
 * - refused: the provider refused, or its answer proves nothing.
 * - unavailable: the provider cannot be reached.
 * - rate_limited: too many sign-ins were begun or returned to.
 */
export const SIGN_IN_PROBLEMS = ['no_role', 'not_begun', 'refused', 'unavailable', 'rate_limited'] as const;
export type SignInProblem = (typeof SIGN_IN_PROBLEMS)[number];

/** The time that a person has to sign in at the provider. */
export const SIGN_IN_LIMIT_MS = 10 * 60_000;

export const KEY_NOT_FOUND = unknown('key_not_found', 'There is no API key with this id.').refusal;
export const KEY_NAME_TAKEN = conflict(
  'key_name_taken',
  'Another API key has this name. Choose another: the audit log identifies keys by name.',
).refusal;
