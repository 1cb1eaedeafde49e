import type { z } from 'zod';
import type { Route } from '../contracts/routes/route';
import type { JsonObject } from '../domain/vocabulary';

/** The types of a call, inferred from the contract of its route. */

/** What any request may have. */
export interface RequestParts {
  /** The variable parts of the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: object;
  readonly body?: object;
  /** The Idempotency-Key. */
  readonly key?: string;
  /** Called with the number of bytes of a form sent so far. */
  readonly onSent?: ((bytes: number) => void) | undefined;
}

/** The names of the parts of a path that are written `:name`. */
type PathName<P extends string> = P extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | PathName<`/${Rest}`>
  : P extends `${string}/:${infer Name}`
    ? Name
    : never;

type InputOf<S> = S extends z.ZodType ? z.input<S> : Record<string, never>;

/** What every form may have. `accept_damaged_images` takes images of which a part is missing. */
interface ImageFields {
  readonly images?: readonly Blob[] | undefined;
  readonly accept_damaged_images?: boolean | undefined;
}

/** The fields of a form and its images: `File`, or `Blob` without a name. A Blob of `fs.openAsBlob` is streamed. */
type FormOf<S> = ImageFields &
  (S extends z.ZodType
    ? { readonly [Name in keyof z.output<S>]: string | number | boolean | JsonObject | readonly Blob[] | undefined }
    : unknown);

type BodyOf<R extends Route> = R extends { readonly takes: 'form' } ? FormOf<R['body']> : InputOf<R['body']>;

/** A property that is optional if an empty object is enough. */
type Part<Name extends string, T> =
  Record<string, never> extends T ? { readonly [N in Name]?: T } : { readonly [N in Name]: T };

type CallRequest<R extends Route> = RequestParts &
  Part<'params', Readonly<Record<PathName<R['path']>, string>>> &
  Part<'query', InputOf<R['query']>> &
  Part<'body', BodyOf<R>>;

/** The request of a route; nothing for a route that needs none. */
export type CallArguments<R extends Route> =
  Record<string, never> extends CallRequest<R> ? [request?: CallRequest<R>] : [request: CallRequest<R>];

/** The JSON of an answer, or the response of a route that gives an image or CSV. */
export type CallAnswer<R extends Route> = R extends { readonly gives: string }
  ? Response
  : z.output<R['answer']> | (R extends { readonly again: infer A extends z.ZodType } ? z.output<A> : never);
