import type { IncomingMessage } from 'node:http';
import type { Route } from '../contracts/routes/route';
import type { Actor } from '../domain/ops/audit';
import type { FieldRule } from '../domain/refusal';

/**
 * The operator API within the process: the same roles, contracts, rules, audit and Idempotency-Keys as over HTTP, so
 * that pages and programs get the same answers.
 */

type OutputOf<S> = S extends { readonly _zod: { readonly output: infer T } } ? T : never;

/** Routes with a JSON body or none, and a JSON answer. Images are served over HTTP only. */
export type JsonRoute = Route & { readonly takes?: never; readonly gives?: never };
export type FormRoute = Route & { readonly takes: 'form' };

/** The answer of a route. `again` is the answer to a repeated request, for routes that show a secret once. */
export type RouteAnswer<R extends Route> = OutputOf<R['answer']> | OutputOf<R['again']>;

/** A call as a program would make it. Omitted parts are empty. */
export interface ApiCall {
  readonly actor: Actor;
  /** Path parameters by name; encoded here. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Checked against the contract of the route. As in JSON, undefined members are absent. */
  readonly body?: unknown;
  /** 1 to 255 characters, else the call is refused. Shared with the same call over HTTP. */
  readonly idempotencyKey?: string;
}

export interface ApiCallRefusal {
  readonly httpStatus: number;
  /** Stable snake_case code. */
  readonly code: string;
  /** For people, in English. Never contains personal data. */
  readonly message: string;
  readonly details: readonly FieldRule[];
  /** When to retry, ms from now; null when a retry changes nothing. */
  readonly retryAfterMs: number | null;
  /** Of `cursor_expired`: the cursor of now. */
  readonly nextCursor?: string | undefined;
}

export type ApiAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: ApiCallRefusal };

/** A form as a browser sends it, with hidden fields that the API does not know. */
export interface ApiForm {
  readonly actor: Actor;
  readonly params?: Readonly<Record<string, string>>;
  /** The body is read from here only. */
  readonly request: IncomingMessage;
  /** Names of the page's hidden fields. They are removed before the contract is checked. */
  readonly hiddenFields: readonly string[];
  /** Checks the hidden fields after the form is read; false refuses the form with 403 `form_not_ours`. */
  readonly isGenuine: (hidden: Readonly<Record<string, string>>) => boolean;
  /** Refuses a genuine form by its hidden fields, before it has an effect; null accepts it. */
  readonly refusalOf?: (hidden: Readonly<Record<string, string>>) => Promise<ApiCallRefusal | null>;
  /** The hidden field with the Idempotency-Key; a form without it has no key. */
  readonly idempotencyField: string;
  /** The text of a field of the API as it is meant, from what was entered. */
  readonly textOf: (name: string, entered: string) => string;
}

export interface OperatorApi {
  /**
   * Makes a call. Rejects only where HTTP answers 503 `unavailable`: the effect is uncertain, so repeat it with the
   * same key. Any other 503 is a refusal without effect; `retryAfterMs` tells when to retry.
   */
  call<R extends JsonRoute>(route: R, call: ApiCall): Promise<ApiAnswer<RouteAnswer<R>>>;
  /**
   * True when a call with this key had its effect within the last 24 hours, made by any caller. Rejects while the
   * store is unreachable.
   */
  hadEffect(route: Route, call: Required<Pick<ApiCall, 'params' | 'idempotencyKey'>>): Promise<boolean>;
  /**
   * Takes a form with images, streamed to disk. `fields` are the entered values without the hidden fields: of a
   * truncated form those read so far, of a refused form none. The rest of the body is discarded, for at most 2 s,
   * before this settles, so that the caller can answer at once. Rejects like `call`. A disconnected client is refused
   * as `client_gone`.
   */
  form<R extends FormRoute>(
    route: R,
    form: ApiForm,
  ): Promise<ApiAnswer<RouteAnswer<R>> & { readonly fields: Readonly<Record<string, string>> }>;
}

/** The result of checking an API key. */
export type KeyCheck =
  | { readonly kind: 'valid'; readonly actor: Actor; readonly keyHash: string }
  | { readonly kind: 'wrong' }
  /** Wrong, and over the rate limit of its source. */
  | { readonly kind: 'rate_limited'; readonly retryAfterMs: number };

/** A rate limit per source. */
export interface SourceLimit {
  /** Counts one. Returns null, or the ms until the next permit when the source is over its limit. */
  count(source: string): Promise<number | null>;
}

/** Sign-in by API key. Both methods reject while the store is unavailable. */
export interface SignIn {
  /** Wrong keys of the console and of the API count together. `address` is the client's IP address. */
  check(key: string, address: string | undefined): Promise<KeyCheck>;
  /** The holder of the key with this hash; null once it is revoked, or its grace period after a rotation is over. */
  holderOf(keyHash: string): Promise<Actor | null>;
}

/** A signed-in session: of an API key, with which it ends, or of a person with the role of their sign-in. */
export type Session = (SessionOfKey | SessionOfPerson) & {
  /** ISO 8601, UTC. */
  readonly createdAt: string;
};

interface SessionOfKey {
  readonly keyHash: string;
}

interface SessionOfPerson {
  readonly person: Actor;
}

/** Sessions by the hash of their id. Only the browser knows the id. */
export interface SessionStore {
  begin(idHash: string, session: Session, lifetimeMs: number): Promise<void>;
  /** The session, without extending it; null when there is none. */
  read(idHash: string): Promise<Session | null>;
  /** Extends the session to `lifetimeMs` from now and returns it; null when there is none. */
  prolong(idHash: string, lifetimeMs: number): Promise<Session | null>;
  end(idHash: string): Promise<void>;
  /** Lists a session under its holder for its longest lifetime. */
  list(holderId: string, idHash: string, session: { atMs: number; lifetimeMs: number }): Promise<void>;
  /** Ends all sessions of this holder. */
  endAll(holderId: string): Promise<void>;
}
