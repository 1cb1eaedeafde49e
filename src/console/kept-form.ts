import type { Request } from 'express';
import { OWN_FIELDS } from './entries';
import { isFromHere } from './requests';

/**
 * What somebody entered into a form that could not be taken, so that nobody types it again: of a page of ours alone, never
 * of one that carries a key, and not of uploads, which have their own way. Null where nothing is to be kept.
 */
export function keptForm(request: Request): URLSearchParams | null {
  const body: unknown = request.body;
  if (request.method !== 'POST' || typeof body !== 'string' || body === '') return null;
  if (request.get('hx-request') !== undefined || !isFromHere(request)) return null;
  const form = new URLSearchParams(body);
  return [...form.keys()].some(isSecret) ? null : form;
}

/** What people entered or chose in a form, without what the page itself put there. */
export function enteredIn(form: URLSearchParams): [name: string, value: string][] {
  return [...form].filter(
    ([name, value]) => value.trim() !== '' && !OWN_FIELDS.includes(name) && !name.startsWith('was-'),
  );
}

function isSecret(name: string): boolean {
  return name === 'key' || /password|secret/i.test(name);
}
