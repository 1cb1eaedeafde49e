import type { Request } from 'express';
import { westernNumber } from '../domain/numerals';
import { RIYADH_OFFSET_MS } from '../domain/timestamp';
import { isSameOrigin, type HttpExchange } from './requests';
import { isFormOf } from './sessions';
import type { ApiForm, SourceLimit } from '../workflow/operator-port';
import type { FormFailure, PageVisit } from './page';
import express, { type RequestHandler } from 'express';
import type { Clock } from '../platform/clock';
import { sourceOf } from '../platform/connections';
import type { Log } from '../platform/log/log';
import { throttledLog } from '../platform/log/log-throttle';
import type { FormRefusal, Metrics } from '../platform/log/metrics';

/** Converts form fields to the body of an API call. */

/** Fields of every form that do not belong to the API (parts/form.tsx). */
const HIDDEN_FIELDS = ['form_token', 'form_key', 'question'];

export interface EntryRules {
  /** Sent as numbers. Other text is sent unchanged, so that the API names the broken rule. */
  readonly numbers?: readonly string[];
  /** Entered as Riyadh time without a zone, sent with its offset. */
  readonly timestamps?: readonly string[];
  /** Only these fields are sent. */
  readonly only?: readonly string[];
}

/**
 * The fields of a posted form. Browsers send line breaks as CRLF but count them as one character, so they become LF:
 * else a text of the allowed length would be refused as too long.
 */
export function formIn(body: unknown): URLSearchParams {
  const fields = [...new URLSearchParams(typeof body === 'string' ? body : '')];
  return new URLSearchParams(fields.map(([name, value]): [string, string] => [name, withLineFeeds(value)]));
}

const withLineFeeds = (text: string): string => text.replaceAll('\r\n', '\n');

/** A refusal that says of the named fields, if they were left empty, that they are required, not which form they have. */
export function requiredIfEmpty(failure: FormFailure, names: readonly string[]): FormFailure {
  const isEmpty = (name: string) => names.includes(name) && (failure.entered.get(name) ?? '').trim() === '';
  const details = failure.refusal.details.map(({ field, rule }) =>
    isEmpty(field) ? { field, rule: 'is required' } : { field, rule },
  );
  return { ...failure, refusal: { ...failure.refusal, details } };
}

/** The body of a call, without empty fields. */
export function bodyOf(form: URLSearchParams, rules: EntryRules = {}): Record<string, string | number> {
  const body: Record<string, string | number> = {};
  for (const [name, text] of form) {
    const value = text.trim();
    if (value === '' || HIDDEN_FIELDS.includes(name)) continue;
    if (rules.only && !rules.only.includes(name)) continue;
    body[name] = valueOf(name, value, rules);
  }
  return body;
}

function valueOf(name: string, value: string, { numbers = [], timestamps = [] }: EntryRules): string | number {
  if (numbers.includes(name)) return numberOf(name, value);
  return timestamps.includes(name) ? withRiyadhOffset(value) : value;
}

function numberOf(name: string, value: string): string | number {
  return numberIn(isCoordinate(name) ? withPoint(value) : value);
}

/** The number in plain decimal notation; other text unchanged: `1e3` and `0x10` are refused as typing errors. */
export function numberIn(value: string): string | number {
  const text = westernNumber(value);
  const number = /^[+-]?\d+(?:\.\d+)?$/.test(text) ? Number(text) : NaN;
  return Number.isFinite(number) ? number : value;
}

const isCoordinate = (name: string): boolean => name === 'latitude' || name === 'longitude';

/** A comma is a decimal separator in coordinates (`46,68`); elsewhere it may separate thousands. */
function withPoint(coordinate: string): string {
  return westernNumber(coordinate.trim()).replace(/^([+-]?\d+)[,\u060c](\d+)$/, '$1.$2');
}

/** How the API reads an upload that was entered on a page of this visitor. */
export function uploadOf({ visitor, actor, request }: PageVisit): Omit<ApiForm, 'params'> {
  return {
    actor,
    request,
    hiddenFields: HIDDEN_FIELDS,
    isGenuine: (hidden) => isFormOf(visitor, hidden['form_token'] ?? ''),
    idempotencyField: 'form_key',
    textOf: (name, entered) => (isCoordinate(name) ? withPoint(entered) : withLineFeeds(entered)),
  };
}

/** Adds the Riyadh offset (UTC+3 all year) to `2026-11-21T09:14`. Other text is left for the API to check. */
export function withRiyadhOffset(entered: string): string {
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?$/.test(entered) ? `${entered}+03:00` : entered;
}

/** The value of a datetime-local field: Riyadh time to the minute. */
export function fieldTime(ms: number): string {
  return new Date(ms + RIYADH_OFFSET_MS).toISOString().slice(0, 16);
}

/**
 * Finds the fields of a form that the user changed. The form itself contains the original values, so the result does
 * not depend on later changes of the record.
 */

/** Prefix of the hidden field with the original value of a field. */
const WAS = 'was-';

/** A hidden field with the original value of a field. */
export function Was({ name, value }: { name: string; value: string }) {
  return <input type="hidden" name={`${WAS}${name}`} value={value} />;
}

/** The names of the changed fields. */
export function changedIn(form: URLSearchParams): string[] {
  return [...form.keys()].filter((name) => {
    const was = form.get(`${WAS}${name}`);
    return was !== null && form.get(name)?.trim() !== was.trim();
  });
}

/** A refused form with the changed fields only. Unchanged fields show the current record. */
export function unchangedAsNow(failure: FormFailure | null): FormFailure | null {
  if (failure === null) return null;
  const changed = changedIn(failure.entered);
  const entered = [...failure.entered].filter(
    ([name]) => changed.includes(name) || !failure.entered.has(`${WAS}${name}`),
  );
  return { ...failure, entered: new URLSearchParams(entered) };
}

/**
 * The fields of a form that could not be processed, to show them again. Null for requests from other sites, requests of
 * scripts, uploads, and forms that contain an API key.
 */
export function keptForm(request: Request): URLSearchParams | null {
  const body: unknown = request.body;
  if (request.method !== 'POST' || typeof body !== 'string' || body === '') return null;
  if (request.get('hx-request') !== undefined || !isSameOrigin(request)) return null;
  const form = new URLSearchParams(body);
  return hasSecret(form) ? null : form;
}

/** True for a form with an API key or another secret. */
export function hasSecret(form: URLSearchParams): boolean {
  return [...form.keys()].some((name) => name === 'key' || /password|secret/i.test(name));
}

/** Fits the refresh of a board: 50 references of 200 characters, percent-encoded. */
const FORM_BYTES_MAX = 200_000;
/** The rest of a form without a session only lets the person copy what was entered. Texts have 1,000 characters. */
const STRANGE_FORM_BYTES_MAX = 50_000;
/** The largest forms have about 75: 50 rows of a board, or 25 tasks of which all are ticked. */
const FIELDS_MAX = 100;

/** Reads forms without files into `request.body`, as text. Rejects with an error that has a `status`. */
export interface PageFormReader {
  /** Reads a form of a signed-in user. */
  read(exchange: HttpExchange, bytesMax?: number): Promise<void>;
  /** Reads a form without a session, unless its source has sent too many. */
  readOfStranger(exchange: HttpExchange): Promise<void>;
  /** Counts a form without a session. Returns null, or the ms to wait if its source has sent too many. */
  countOfStranger(exchange: HttpExchange): Promise<number | null>;
}

export interface PageFormTools {
  /** Of the forms without a session that this process reads. */
  readonly formLimit: SourceLimit;
  readonly metrics: Pick<Metrics, 'formRefused'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Why a form was not read. */
class PageFormRefused extends Error {
  constructor(readonly status: 413 | 429) {
    super(status === 413 ? 'the form has too many fields' : 'the source has sent too many forms without a session');
  }
}

export function createPageFormReader({ formLimit, metrics, ...tools }: PageFormTools): PageFormReader {
  const log = throttledLog(tools.log, { clock: tools.clock, by: ['reason', 'source'] });
  const refused = ({ request }: HttpExchange, reason: FormRefusal) => {
    metrics.formRefused(reason);
    log.warn('console.form_refused', { reason, source: sourceOf(request.ip) });
  };
  const countOfStranger = async (exchange: HttpExchange) => {
    const waitMs = await formLimit.count(sourceOf(exchange.request.ip));
    if (waitMs !== null) refused(exchange, 'too_many');
    return waitMs;
  };
  const read = async (exchange: HttpExchange, bytesMax = FORM_BYTES_MAX) => {
    const { request } = exchange;
    try {
      await run(
        express.text({ type: 'application/x-www-form-urlencoded', limit: bytesMax, defaultCharset: 'utf-8' }),
        exchange,
      );
      const body: unknown = request.body;
      if (typeof body !== 'string' || hasFewFields(body)) return;
      request.body = undefined;
      throw new PageFormRefused(413);
    } catch (error) {
      if (error instanceof Error && 'status' in error && error.status === 413) refused(exchange, 'too_large');
      throw error;
    }
  };
  return {
    read,
    countOfStranger,
    async readOfStranger(exchange) {
      const waitMs = await countOfStranger(exchange);
      if (waitMs !== null) {
        exchange.response.set('retry-after', String(Math.ceil(waitMs / 1000)));
        throw new PageFormRefused(429);
      }
      await read(exchange, STRANGE_FORM_BYTES_MAX);
    },
  };
}

/** Whether a form, or one that another carries as a field, has at most as many fields as a page sends. */
export function hasFewFields(form: string): boolean {
  let fields = 1;
  for (let at = form.indexOf('&'); at !== -1 && fields <= FIELDS_MAX; at = form.indexOf('&', at + 1)) fields += 1;
  return fields <= FIELDS_MAX;
}

async function run(step: RequestHandler, { request, response }: HttpExchange): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    void step(request, response, (error: unknown) => {
      if (error === undefined) resolve();
      else reject(error instanceof Error ? error : new Error('the form cannot be read'));
    });
  });
}
