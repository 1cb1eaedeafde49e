import { z } from 'zod';
import type { FuzzResponse } from './http-client';

/** The fault of a response; null when it is as documented. */

const FIELD_RULE = z.strictObject({ field: z.string(), rule: z.string() });
const API_ERROR = z.strictObject({ code: z.string().min(1), message: z.string(), details: z.array(FIELD_RULE) });
const ACCEPTED = z.strictObject({ code: z.enum(['accepted', 'already_known', 'not_for_towhook']) });
/** A refusal of a webhook names at most 20 fields, so that none is as large as its request. */
const WEBHOOK_REFUSAL_BYTES_MAX = 32_768;
/** The API names all failing fields to callers with a key: every name of a body of 100,000 bytes, with its rule. */
const API_REFUSAL_BYTES_MAX = 1_000_000;

/** Node's HTTP parser answers invalid HTTP and headers over its limit itself. */
function isAnswerOfParser({ status, headers, bytes }: FuzzResponse): boolean {
  return (status === 400 || status === 431) && bytes === 0 && headers.connection === 'close';
}

export function judgeReceiver(response: FuzzResponse | string): string | null {
  if (typeof response === 'string') return response;
  if (isAnswerOfParser(response)) return null;
  const { status } = response;
  if (![200, 400, 401, 404, 413, 415].includes(status)) return `the receiver answered ${status}`;
  return status === 200 ? shapeProblem(ACCEPTED, response) : refusalProblem(response, WEBHOOK_REFUSAL_BYTES_MAX);
}

/** `documented5xx`: the 5xx codes that this call may be answered with. */
export function judgeApi(
  response: FuzzResponse | string,
  expected: { readonly answer: z.ZodType; readonly documented5xx?: readonly string[] },
): string | null {
  if (typeof response === 'string') return response;
  if (isAnswerOfParser(response)) return null;
  const { status, headers, bytes } = response;
  if (status >= 500) {
    const problem = refusalProblem(response);
    const code = problem === null ? API_ERROR.parse(JSON.parse(response.text)).code : '(none)';
    return expected.documented5xx?.includes(code) ? null : `the API answered ${status} ${code}`;
  }
  if (status >= 400) return refusalProblem(response);
  if (status === 204) return bytes === 0 ? null : 'an answer 204 has a body';
  const type = headers['content-type'] ?? '';
  if (type.startsWith('image/') || type.startsWith('text/csv') || type === 'text/event-stream') return null;
  return shapeProblem(expected.answer, response);
}

const PAGE_STATUSES = [200, 303, 400, 401, 403, 404, 409, 413, 415, 422, 429];

/** Pages of the console and their parts. The API answers any other path. */
export function judgePage(response: FuzzResponse | string): string | null {
  if (typeof response === 'string') return response;
  if (isAnswerOfParser(response)) return null;
  const { status, headers, text } = response;
  if (!PAGE_STATUSES.includes(status)) return `the console answered ${status}`;
  if (headers['content-type']?.startsWith('application/json')) return status >= 400 ? refusalProblem(response) : null;
  if (status === 303) return redirectProblem(response);
  const isHtml = headers['content-type']?.startsWith('text/html') === true;
  const isWhole = !text.startsWith('<!') || text.trimEnd().endsWith('</html>');
  return isHtml && isWhole ? null : `the console answered ${status} with no whole page`;
}

function redirectProblem({ headers }: FuzzResponse): string | null {
  return /^\/(?![/\\])/.test(headers.location ?? '') ? null : 'a redirect leads away';
}

function refusalProblem(response: FuzzResponse, bytesMax = API_REFUSAL_BYTES_MAX): string | null {
  if (response.bytes > bytesMax) return `a refusal ${response.status} has ${response.bytes} bytes`;
  return shapeProblem(API_ERROR, response);
}

function shapeProblem(shape: z.ZodType, { status, headers, text }: FuzzResponse): string | null {
  if (headers['content-type']?.startsWith('application/json') !== true) return `an answer ${status} is no JSON`;
  try {
    const result = shape.safeParse(JSON.parse(text));
    const issue = result.error?.issues[0];
    return result.success
      ? null
      : `an answer ${status} breaks its contract at ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`;
  } catch {
    return `an answer ${status} is no JSON`;
  }
}
