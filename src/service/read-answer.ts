import type { z } from 'zod';
import { JSON_LEVELS_MAX } from '../contracts/common';
import type { Operation } from '../contracts/operations';
import { failedRules } from '../contracts/rules';
import { envelope } from '../contracts/service';
import { FAULTS_NAMED_MAX, jsonFaults } from '../domain/json-faults';

/** What an answer must keep to: the part of an operation's row that says so. */
export interface Contract<T> {
  readonly answer: z.ZodType<T>;
  readonly answerShape: Operation['answerShape'];
}

/** What a body says once it was held against its contract. */
export type Reading<T> =
  | { readonly kept: true; readonly data: T }
  /** Field and rule of everything that is wrong; never a value. */
  | { readonly kept: false; readonly issues: readonly string[] };

/** An envelope adds one level to what it holds. */
const ANSWER_LEVELS_MAX = JSON_LEVELS_MAX + 1;

/** The body of an answer; `value` is undefined when it is not JSON. */
export interface Body {
  readonly text: string;
  readonly isJson: boolean;
  readonly value: unknown;
}

export function readJson(text: string): Body {
  try {
    // Some servers put a byte order mark before their JSON.
    const value: unknown = JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
    return { text, isJson: true, value };
  } catch {
    return { text, isJson: false, value: undefined };
  }
}

/**
 * Holds the body of a 2xx answer against its operation's contract. Reference operations answer inside an envelope
 * (service-api 1); those of the integration guide (4.5) are read both inside an envelope and bare.
 */
export function readAnswer<T>(contract: Contract<T>, { text, isJson, value }: Body): Reading<T> {
  if (!isJson) return { kept: false, issues: ['body: must be JSON'] };
  const faults = faultsOf(text);
  if (faults.length > 0) return { kept: false, issues: faults };
  const enveloped = readEnveloped(contract.answer, value);
  switch (contract.answerShape) {
    case 'envelope':
      return enveloped;
    // Open question Q7: whether the answers of service-api 4.5 travel in the envelope is not documented; both are read.
    case 'bare_or_envelope': {
      if (enveloped.kept) return enveloped;
      const bare = held(contract.answer, value, '');
      // Of the two complaints, the one about the shape that was meant.
      return bare.kept || !hasData(value) ? bare : enveloped;
    }
  }
}

/** What no answer may hold under any contract; found in one pass over its text. */
function faultsOf(text: string): readonly string[] {
  const { isTooDeep, infinite, infiniteCount } = jsonFaults(text, ANSWER_LEVELS_MAX);
  if (isTooDeep) return ['body: is nested too deeply'];
  const named = infinite.map((path) => `${path === '' ? 'body' : path}: must be a finite number`);
  const others = infiniteCount - infinite.length;
  return others === 0 ? named : [...named, `body: and ${others} more`];
}

function readEnveloped<T>(answer: z.ZodType<T>, value: unknown): Reading<T> {
  const outer = held(envelope, value, '');
  return outer.kept ? held(answer, outer.data.data, 'data.') : outer;
}

function held<T>(schema: z.ZodType<T>, value: unknown, at: string): Reading<T> {
  const result = schema.safeParse(value);
  if (result.success) return { kept: true, data: result.data };
  const broken = failedRules(result.error).slice(0, FAULTS_NAMED_MAX);
  return { kept: false, issues: broken.map(({ field, rule }) => `${at}${field}: ${rule}`) };
}

function hasData(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'data' in value;
}

/** Longer messages of the service are cut. */
const MESSAGE_LENGTH_MAX = 500;
/** How deep a message is searched: `{ error: { errors: [ { message } ] } }` is the deepest seen in the wild. */
const DEPTH_MAX = 4;
/**
 * Where services put their messages, best first.
 * Open question Q6: the shape of an error body is not documented (service-api 7); the first message found counts.
 */
const NAMES = ['message', 'error', 'error_description', 'detail', 'title', 'errors', 'data'] as const;

/** The message in a refusal's JSON body, at most 500 characters; null when there is none. */
export function refusalMessage(body: unknown): string | null {
  const message = messageIn(body, DEPTH_MAX);
  return message === null ? null : message.slice(0, MESSAGE_LENGTH_MAX).toWellFormed();
}

function messageIn(value: unknown, depth: number): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value.trim();
  if (typeof value !== 'object' || value === null || depth === 0) return null;
  const candidates: readonly unknown[] = Array.isArray(value) ? value : named(value);
  for (const candidate of candidates) {
    const message = messageIn(candidate, depth - 1);
    if (message !== null) return message;
  }
  return null;
}

function named(value: object): unknown[] {
  const fields = new Map<string, unknown>(Object.entries(value));
  return NAMES.map((name) => fields.get(name));
}
