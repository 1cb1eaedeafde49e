import type { z } from 'zod';
import type { Role } from '../../domain/vocabulary';

/** One address of the operator API, as data. */
export interface Route {
  readonly method: 'get' | 'post' | 'delete';
  /** With `:name` where a part varies. */
  readonly path: string;
  /** The weakest role that may call it. */
  readonly role: Role;
  readonly summary: string;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** `form`: multipart/form-data, fields as `body` says and files under the name `images`; else JSON. */
  readonly takes?: 'form';
  /** `image`: the answer is an image and no JSON. */
  readonly gives?: 'image';
  readonly status: 200 | 201 | 202 | 204;
  readonly answer: z.ZodType;
  /** The answer to the same request under the same Idempotency-Key, where the first one shows what is shown only once. */
  readonly again?: z.ZodType;
}
