import type { Child } from 'hono/jsx';
import type { ApiRefusal } from '../workflow/operator-port';
import type { Words } from './words';

/** What a page's handler answers. */
export type Shown =
  | {
      readonly kind: 'page';
      readonly title: string;
      readonly content: Child;
      readonly httpStatus: number;
      /** Styles and scripts beyond those of every page, by their names in assets/. */
      readonly assets: readonly string[];
    }
  /** A part of a page, for what asked for that part alone. */
  | { readonly kind: 'part'; readonly content: Child; readonly httpStatus: number }
  | { readonly kind: 'elsewhere'; readonly address: string; readonly done: Done | null }
  | { readonly kind: 'missing' };

export type Done = keyof Words['common']['done'];

export function page(
  title: string,
  content: Child,
  also: { httpStatus?: number; assets?: readonly string[] } = {},
): Shown {
  return { kind: 'page', title, content, httpStatus: also.httpStatus ?? 200, assets: also.assets ?? [] };
}

/** A part of a page: what is swapped in while the page stands. */
export function part(content: Child, httpStatus = 200): Shown {
  return { kind: 'part', content, httpStatus };
}

/** Another page, after a form had its effect; `done` is said there once. */
export function elsewhere(address: string, done: Done | null = null): Shown {
  return { kind: 'elsewhere', address, done };
}

export const missing: Shown = { kind: 'missing' };

/** Why a form had no effect, beside what was entered, so that nobody types it again. */
export interface Failure {
  /** Which form of the page it was. */
  readonly form: string;
  readonly refusal: ApiRefusal;
  readonly entered: URLSearchParams;
}
