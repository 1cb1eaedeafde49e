import { randomUUID } from 'node:crypto';
import { parseCookie } from 'cookie';
import type { Request } from 'express';
import type { Actor } from '../domain/ops/audit';
import { roleAllows, type Role } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import type { StatusView } from '../contracts/operator';
import { formatsOf, type Formats } from './formats';
import type { SessionUser } from './sessions';
import { LANGUAGES, messagesIn, type Language, type Messages } from './messages';

export const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

/** The user who reads the page, with language, theme and formats. */
export interface Viewer {
  /** Null before signing in. */
  readonly actor: Actor | null;
  /** Empty before signing in. */
  readonly formToken: string;
  readonly language: Language;
  readonly theme: Theme;
  readonly hasShortcuts: boolean;
  readonly messages: Messages;
  readonly formats: Formats;
  readonly nowMs: number;
  /** The address of this page with its query, for links back. */
  readonly here: string;
  /** The message of the last form, shown once; null without one. */
  readonly done: keyof Messages['common']['done'] | null;
  /** The mode of the installation and the number of open tasks; null before signing in. */
  readonly status: StatusView | null;
  /** True for a crew, to which ids of software and technical details mean nothing. */
  readonly isInField: boolean;
  may(role: Role): boolean;
  /** A new idempotency key for a form. */
  formKey(): string;
}

export const LANGUAGE_COOKIE = 'towhook_language';
export const THEME_COOKIE = 'towhook_theme';
export const SHORTCUTS_COOKIE = 'towhook_shortcuts';
export const DONE_COOKIE = 'towhook_done';

export function viewerOf(request: Request, visitor: SessionUser | null, clock: Clock): Viewer {
  const cookies = parseCookie(request.get('cookie') ?? '');
  const language = oneOf(LANGUAGES, cookies[LANGUAGE_COOKIE]) ?? preferredLanguage(request);
  const messages = messagesIn(language);
  const nowMs = clock.nowMs();
  const actor = visitor?.actor ?? null;
  return {
    actor,
    formToken: visitor?.formToken ?? '',
    language,
    theme: oneOf(THEMES, cookies[THEME_COOKIE]) ?? 'auto',
    hasShortcuts: cookies[SHORTCUTS_COOKIE] !== 'off',
    messages,
    formats: formatsOf(language, nowMs),
    nowMs,
    here: request.originalUrl,
    done: doneIn(messages, cookies[DONE_COOKIE]),
    status: null,
    isInField: actor?.role === 'crew',
    may: (role) => actor !== null && roleAllows(actor.role, role),
    formKey: () => randomUUID(),
  };
}

/** The known value that equals `word`; null if there is none. */
export function oneOf<T extends string>(known: readonly T[], word: string | undefined): T | null {
  return known.find((each) => each === word) ?? null;
}

function preferredLanguage(request: Request): Language {
  return oneOf(LANGUAGES, request.acceptsLanguages(...LANGUAGES) || undefined) ?? 'en';
}

function doneIn(messages: Messages, code: string | undefined): Viewer['done'] {
  return code !== undefined && isDone(messages, code) ? code : null;
}

function isDone(messages: Messages, code: string): code is keyof Messages['common']['done'] {
  return Object.hasOwn(messages.common.done, code);
}
