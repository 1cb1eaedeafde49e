import { randomUUID } from 'node:crypto';
import { parseCookie } from 'cookie';
import type { Request } from 'express';
import type { Actor } from '../domain/audit';
import { roleAllows, type Role } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import { formatsOf, type Formats } from './formats';
import type { Visitor } from './sessions';
import { LANGUAGES, wordsOf, type Language, type Words } from './words';

export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** Everything a page knows about whoever reads it. */
export interface Viewer {
  /** Null before signing in. */
  readonly actor: Actor | null;
  /** Empty before signing in. */
  readonly formToken: string;
  readonly language: Language;
  readonly theme: Theme;
  readonly hasShortcuts: boolean;
  readonly words: Words;
  readonly formats: Formats;
  readonly nowMs: number;
  /** The address of this page with its query, to come back to. */
  readonly here: string;
  /** What was just done, to be said once; null when nothing was. */
  readonly done: keyof Words['common']['done'] | null;
  /** How many tasks are open; null where nobody asked. */
  readonly openTasks: number | null;
  may(role: Role): boolean;
  /** A new name under which a form has its effect once, however often it is sent. */
  formKey(): string;
}

export const LANGUAGE_COOKIE = 'towhook_language';
export const THEME_COOKIE = 'towhook_theme';
export const SHORTCUTS_COOKIE = 'towhook_shortcuts';
export const DONE_COOKIE = 'towhook_done';

export function viewerOf(request: Request, visitor: Visitor | null, clock: Clock): Viewer {
  const cookies = parseCookie(request.get('cookie') ?? '');
  const language = oneOf(LANGUAGES, cookies[LANGUAGE_COOKIE]) ?? preferredLanguage(request);
  const words = wordsOf(language);
  const nowMs = clock.nowMs();
  const actor = visitor?.actor ?? null;
  return {
    actor,
    formToken: visitor?.formToken ?? '',
    language,
    theme: oneOf(THEMES, cookies[THEME_COOKIE]) ?? 'auto',
    hasShortcuts: cookies[SHORTCUTS_COOKIE] !== 'off',
    words,
    formats: formatsOf(language, nowMs),
    nowMs,
    here: request.originalUrl,
    done: doneIn(words, cookies[DONE_COOKIE]),
    openTasks: null,
    may: (role) => actor !== null && roleAllows(actor.role, role),
    formKey: () => randomUUID(),
  };
}

/** The one of the known words that this is; null when it is none of them. */
export function oneOf<T extends string>(known: readonly T[], word: string | undefined): T | null {
  return known.find((each) => each === word) ?? null;
}

function preferredLanguage(request: Request): Language {
  return oneOf(LANGUAGES, request.acceptsLanguages(...LANGUAGES) || undefined) ?? 'en';
}

function doneIn(words: Words, code: string | undefined): Viewer['done'] {
  return code !== undefined && isDone(words, code) ? code : null;
}

export function isDone(words: Words, code: string): code is keyof Words['common']['done'] {
  return Object.hasOwn(words.common.done, code);
}
