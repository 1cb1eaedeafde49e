import type { Child } from 'hono/jsx';
import type { ApiCallRefusal, OperatorApi } from '../workflow/operator-port';
import type { Messages } from './messages';
import type { Request, Response } from 'express';
import type { Actor } from '../domain/ops/audit';
import type { TowRules } from '../domain/tow/fact-command';
import type { Role, ViolationApi } from '../domain/vocabulary';
import type { SessionUser } from './sessions';
import type { Viewer } from './viewer';
import type { MetricsStore } from '../workflow/ops/metrics-port';
import type { ReadOpsState } from '../workflow/ops/ops-state';
import type { TowStore } from '../workflow/ports';

/** A whole page. */
export interface ShownPage {
  readonly title: string;
  readonly content: Child;
  readonly httpStatus: number;
  /** Styles and scripts beyond those of every page, by their names in assets/. */
  readonly assets: readonly string[];
  /** True if loading the page again loses its content: the header has no buttons that do so. */
  readonly isShownOnce: boolean;
}

/** The result of a page handler. */
export type PageResult =
  | ({ readonly kind: 'page' } & ShownPage)
  /** A part of a page, for a request of htmx. */
  | { readonly kind: 'part'; readonly content: Child; readonly httpStatus: number }
  | { readonly kind: 'redirect'; readonly address: string; readonly done: DoneMessage | null }
  /** `record`: what was looked up. */
  | { readonly kind: 'missing'; readonly record: MissingRecord | null };

export type DoneMessage = keyof Messages['common']['done'];

export function page(
  title: string,
  content: Child,
  { httpStatus = 200, assets = [], isShownOnce = false }: Partial<Omit<ShownPage, 'title' | 'content'>> = {},
): PageResult {
  return { kind: 'page', title, content, httpStatus, assets, isShownOnce };
}

/** A part of a page that replaces the shown one. */
export function part(content: Child, httpStatus = 200): PageResult {
  return { kind: 'part', content, httpStatus };
}

/** A redirect after a successful form. The next page shows the message `done` once. */
export function redirect(address: string, done: DoneMessage | null = null): PageResult {
  return { kind: 'redirect', address, done };
}

export interface MissingRecord {
  readonly kind: 'violation' | 'delivery' | 'difference';
  readonly id: string;
}

export const missing: PageResult = { kind: 'missing', record: null };

/** There is no such record. Its page names it and leads to the list of such records. */
export function missingRecord(kind: MissingRecord['kind'], id: string): PageResult {
  return { kind: 'missing', record: { kind, id } };
}

/** A refused form: the reason, and the entered fields to show them again. */
export interface FormFailure {
  /** The name of the form within its page. */
  readonly form: string;
  readonly refusal: ApiCallRefusal;
  readonly entered: URLSearchParams;
}

/** A request of a page by a signed-in user. */
export interface PageVisit {
  readonly viewer: Viewer;
  readonly actor: Actor;
  readonly visitor: SessionUser;
  readonly params: (name: string) => string;
  readonly query: URLSearchParams;
  /** True for a request of a part of the page. */
  readonly wantsPart: boolean;
  readonly request: Request;
  /** For cookies and headers only. */
  readonly response: Response;
}

/** A submitted form. */
export interface PostedForm extends PageVisit {
  readonly form: URLSearchParams;
  /** Unique per rendered form, so that it takes effect once. */
  readonly idempotencyKey: string;
}

/** Registers pages, each with the role it needs. */
export interface Pages {
  get(path: string, role: Role, handler: (visit: PageVisit) => Promise<PageResult>): void;
  /** A form without files. Its token is checked before the handler runs. */
  post(path: string, role: Role, handler: (posted: PostedForm) => Promise<PageResult>): void;
  /** A form with files. The handler reads the body and checks the token. */
  upload(path: string, role: Role, handler: (visit: PageVisit) => Promise<PageResult>): void;
}

export interface ImageSettings {
  /** Of all images of one violation or one upload of photos. */
  readonly totalBytesMax: number;
  /** False: the page scales photos down when all together are larger than that. */
  readonly keepsOriginals: boolean;
}

/** Settings of this process that pages show. */
interface PageSettings {
  readonly violationApi: ViolationApi;
  /** How images are sent. */
  readonly images: ImageSettings;
  /** Whether this console can ask the service. */
  readonly isServiceConfigured: boolean;
}

/** Dependencies of the pages. */
export interface PageTools {
  /** Pages read and change through it. */
  readonly api: OperatorApi;
  readonly settings: PageSettings;
  readonly progress: { readonly tows: TowStore; readonly rules: TowRules };
  /** The state that alarms are derived from, and the metrics of the charts. */
  readonly ops: { readonly state: ReadOpsState; readonly figures: MetricsStore };
}
