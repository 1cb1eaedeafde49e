import { OPERATIONS, type OperationName, type DocumentedRefusal } from '../../contracts/service/operations';
import { STATUS_FAULTS, type Hit, type StatusFault } from './faults';
import type { Handled } from '../operations/handling';
import type { ServiceProfile } from '../profile';
import { limitHeaders, retryAfterHeader, type CountedCall } from './rate-limits';
import { REFUSALS } from './faults';
import { rewritten } from '../wire-form';
import type { WireObject } from '../world';

/** An answer ready to be sent. */
export interface SimulatedAnswer {
  readonly httpStatus: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What an operation answers: its data, in the envelope or bare (docs/service-api.md#operations), or its refusal. */
export function operationAnswer(name: OperationName, handled: Handled, profile: ServiceProfile): SimulatedAnswer {
  if ('refusal' in handled) return refusalAnswer(handled.refusal, profile);
  const httpStatus = profile.statuses[name] ?? 200;
  if (httpStatus === 204 || profile.empty.includes(name)) return { httpStatus, headers: {}, body: '' };
  const data = rewritten(handled.data, { ...profile, missing: profile.answer_fields_missing });
  const body = isBare(name, profile) ? data : enveloped(data, profile);
  return jsonAnswer(httpStatus, body, profile);
}

function isBare(name: OperationName, { bare, token_place }: ServiceProfile): boolean {
  return name === 'token' ? !token_place.startsWith('data.') : bare.includes(name);
}

/**
 * The shape of an error body is "not shown" (docs/service-api.md#errors); the document's profile sends its status and
 * message.
 */
export function refusalAnswer(refusal: DocumentedRefusal, profile: ServiceProfile): SimulatedAnswer {
  const { httpStatus, message } = refusal;
  if (profile.refusals_in_body && httpStatus >= 400 && httpStatus < 500 && !isAboutAccess(refusal)) {
    const code = profile.code === 'text' ? String(httpStatus) : httpStatus;
    return jsonAnswer(200, { code, message, data: null }, profile);
  }
  const { type, body } = refusalBody(refusal, profile.refusal_shape);
  return { httpStatus, headers: { 'content-type': type ?? profile.content_type }, body };
}

function isAboutAccess({ httpStatus }: DocumentedRefusal): boolean {
  return httpStatus === 401 || httpStatus === 403;
}

export function overLimitAnswer(counted: CountedCall, nowMs: number, profile: ServiceProfile): SimulatedAnswer {
  const { type, body } = refusalBody(REFUSALS.tooManyRequests, profile.refusal_shape);
  const headers = retryAfterHeader({ waitMs: counted.resetInMs, nowMs }, profile);
  return { httpStatus: 429, headers: { 'content-type': type ?? profile.content_type, ...headers }, body };
}

/** A 200 without the data that the operation promises. */
export function brokenAnswer(profile: ServiceProfile): SimulatedAnswer {
  return jsonAnswer(200, enveloped({}, profile), profile);
}

/** The page of a proxy, or of a wrong address. */
export function pageAnswer(httpStatus: 200 | 404): SimulatedAnswer {
  const title = httpStatus === 404 ? 'Not Found' : 'Welcome';
  return { httpStatus, headers: { 'content-type': 'text/html; charset=utf-8' }, body: htmlPage(title) };
}

export function statusFaultAnswer(
  name: OperationName,
  hit: Hit<StatusFault>,
  { nowMs, profile }: { readonly nowMs: number; readonly profile: ServiceProfile },
): SimulatedAnswer {
  const { httpStatus, message } = STATUS_FAULTS[hit.fault];
  const { type, body } = refusalBody({ httpStatus, message: hit.message ?? message }, profile.refusal_shape);
  const headers = { 'content-type': type ?? profile.content_type };
  const waitMs = hit.wantedMs ?? 1000;
  if (httpStatus === 302) return { httpStatus, headers: { ...headers, location: '/' }, body };
  if (httpStatus === 503 && hit.wantedMs !== null) {
    return { httpStatus, headers: { ...headers, ...retryAfterHeader({ waitMs, nowMs }, profile) }, body };
  }
  if (httpStatus !== 429) return { httpStatus, headers, body };
  // Without a limit in the profile none is named: a client would keep to it for a while.
  const limit = profile.rate_limits[OPERATIONS[name].budget] ?? null;
  const resetAtMs = nowMs + Math.max(1000, Math.ceil(waitMs / 1000) * 1000);
  const limits = limitHeaders({ limit, remaining: 0, resetAtMs, nowMs }, profile);
  return { httpStatus, headers: { ...headers, ...retryAfterHeader({ waitMs, nowMs }, profile), ...limits }, body };
}

/** docs/service-api.md#envelope: code, message, data. */
function enveloped(data: WireObject, { code, message }: ServiceProfile): WireObject {
  return {
    ...(code === 'absent' ? {} : { code: code === 'text' ? '200' : 200 }),
    ...(message === 'absent' ? {} : { message: message === 'null' ? null : 'Success' }),
    data,
  };
}

function jsonAnswer(httpStatus: number, value: WireObject, { content_type }: ServiceProfile): SimulatedAnswer {
  return { httpStatus, headers: { 'content-type': content_type }, body: JSON.stringify(value) };
}

/** The body of a refusal in a shape; its type is null for JSON, whose type the profile names. */
function refusalBody(
  { httpStatus, message }: DocumentedRefusal,
  shape: ServiceProfile['refusal_shape'],
): { readonly type: string | null; readonly body: string } {
  switch (shape) {
    case 'message':
      return asJson({ code: httpStatus, message });
    case 'error':
      return asJson({ error: message });
    case 'error_object':
      return asJson({ error: { code: httpStatus, message } });
    case 'errors':
      return asJson({ errors: [{ message }] });
    case 'detail':
      return asJson({ type: 'about:blank', status: httpStatus, detail: message });
    case 'text':
      return { type: 'text/plain; charset=utf-8', body: message };
    case 'html':
      return { type: 'text/html; charset=utf-8', body: htmlPage(message) };
  }
}

function htmlPage(title: string): string {
  return `<!DOCTYPE html><html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`;
}

function asJson(value: object): { type: null; body: string } {
  return { type: null, body: JSON.stringify(value) };
}
