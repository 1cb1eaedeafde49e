import type { DocumentedRefusal } from '../../contracts/service/operations';
import type { ServiceProfile } from '../profile';

/** The body of a refusal in a shape; its type is null for JSON, whose type the profile names. */
export function refusalBody(
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

export function htmlPage(title: string): string {
  return `<!DOCTYPE html><html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`;
}

function asJson(value: object): { type: null; body: string } {
  return { type: null, body: JSON.stringify(value) };
}
