import type { IncomingMessage } from 'node:http';
import type { Route } from '../contracts/operator-routes';
import type { Actor } from '../domain/audit';
import type { FieldRule } from '../domain/refusal';

/**
 * The operator API for whoever lives in the same process: the same roles, contracts, rules, audit and Idempotency-Keys
 * as over HTTP, so that a page and a program can never be told different things.
 */

type OutputOf<S> = S extends { readonly _zod: { readonly output: infer T } } ? T : never;

/** Routes that take JSON, or nothing, and give JSON. Images are for browsers: they are given over HTTP alone. */
export type JsonRoute = Route & { readonly takes?: never; readonly gives?: never };
export type FormRoute = Route & { readonly takes: 'form' };

/** What a route answers; the second half is there for routes that show something once and not again. */
export type AnswerOf<R extends Route> = OutputOf<R['answer']> | OutputOf<R['again']>;

/** A call as a program would make it; what is left out is empty. */
export interface ApiCall {
  readonly actor: Actor;
  /** The varying parts of the path, by name, as they are: they are encoded here. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Checked against the contract of the route; members that are undefined are not there, as in JSON. */
  readonly body?: unknown;
  /** 1 to 255 characters, else the call is refused; shared with whoever makes the same call over HTTP. */
  readonly idempotencyKey?: string;
}

/** Why a call had no effect. */
export interface ApiRefusal {
  readonly httpStatus: number;
  /** Stable snake_case code for machines. */
  readonly code: string;
  /** For people, in English. Never carries personal data. */
  readonly message: string;
  readonly details: readonly FieldRule[];
  /** When to come back, ms from now; null where coming back changes nothing. */
  readonly retryAfterMs: number | null;
}

export type ApiAnswer<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: ApiRefusal };

/** A form as a browser sends it, with fields of its own that the API does not know. */
export interface ApiForm {
  readonly actor: Actor;
  readonly params?: Readonly<Record<string, string>>;
  /** The body is read from here, by nobody else. */
  readonly request: IncomingMessage;
  /** Names of fields that are taken out of the form before the contract is checked. */
  readonly ownFields: readonly string[];
  /** Looks at those fields once the form is read; false refuses it with 403 `form_not_ours`. */
  readonly admits: (own: Readonly<Record<string, string>>) => boolean;
  /** The own field that holds the Idempotency-Key; a form without that field goes without a key. */
  readonly idempotencyField?: string;
}

export interface OperatorApi {
  /**
   * Carries out a call. Rejects only where HTTP would answer 503 `unavailable`: the effect is uncertain, repeat the call
   * under its key. Every other 503 is a refusal: nothing was done, and `retryAfterMs` says when it may be.
   */
  call<R extends JsonRoute>(route: R, call: ApiCall): Promise<ApiAnswer<AnswerOf<R>>>;
  /**
   * Whether a call had its effect within the last 24 hours, whoever made it, by what is remembered under its key. Changes
   * nothing. Rejects while the store cannot say.
   */
  remembers(route: Route, call: Required<Pick<ApiCall, 'params' | 'idempotencyKey'>>): Promise<boolean>;
  /**
   * Takes a form with images, as the API does: streamed to disk, never held whole in memory. `fields` is what was
   * entered, without the own fields; of a form that could not be read to its end, what came until then; of a form that
   * was not admitted, nothing. What is left of the body is read and thrown away, for at most 2 s, before this resolves or
   * rejects: the caller can answer at once. Rejects like `call`. A client that went away is refused as `client_gone`;
   * nobody reads an answer.
   */
  form<R extends FormRoute>(
    route: R,
    form: ApiForm,
  ): Promise<ApiAnswer<AnswerOf<R>> & { readonly fields: Readonly<Record<string, string>> }>;
}

/** What became of a key that somebody signs in with. */
export type SignedIn =
  | { readonly kind: 'held'; readonly actor: Actor; readonly keyHash: string }
  | { readonly kind: 'wrong' }
  /** Wrong, and over the limit of wrong keys of its source. */
  | { readonly kind: 'slowed'; readonly retryAfterMs: number };

/** Wrong API keys by the source they came from, counted for all processes together. */
export interface WrongKeyStore {
  /** Counts one, unless the source has had `max` within the window: then returns the ms until the next one is counted. */
  count(source: string, limit: { max: number; windowMs: number }): Promise<number | null>;
}

/** The keys of the API as a way in for people. Both reject while the store cannot say. */
export interface SignIn {
  /** Wrong keys count together with those of the API. `address` is the IP address of the visitor. */
  check(key: string, address: string | undefined): Promise<SignedIn>;
  /** Who holds the key that hashes to this now; null once it is revoked, or its grace after a rotation is over. */
  holderOf(keyHash: string): Promise<Actor | null>;
}

/** Somebody who has signed in. */
export interface Session {
  /** The key it began with: the session ends when the key does. */
  readonly keyHash: string;
  /** ISO-8601, UTC. */
  readonly createdAt: string;
}

/** Sessions by the hash of their id; the id itself is known to the browser alone. */
export interface SessionStore {
  begin(idHash: string, session: Session, lifetimeMs: number): Promise<void>;
  /** The session, as long as it would have lived without this look at it; null when there is none. */
  read(idHash: string): Promise<Session | null>;
  /** The session, which lives for this long from now on; null when there is none. */
  prolong(idHash: string, lifetimeMs: number): Promise<Session | null>;
  end(idHash: string): Promise<void>;
  /** Lists a session with those of its holder, for as long as it can last. */
  list(holderId: string, idHash: string, session: { atMs: number; lifetimeMs: number }): Promise<void>;
  /** Ends all sessions that are listed with this holder. */
  endAll(holderId: string): Promise<void>;
}
