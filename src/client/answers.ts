import { NO_SUCH_ADDRESS } from '../contracts/common';
import { errorView } from '../contracts/operator';
import { answerContract, type Route } from '../contracts/routes/route';
import { failedRules } from '../contracts/rules';
import { ApiAnswerBroken, ApiRefusal, isSyntaxError, unreachable } from './errors';
import type { CallAnswer } from './call-types';

/** Waits for an answer. Rejects with ApiUnreachable without one, and with ApiRefusal for a refusal. */
export async function accepted(answer: Promise<Response>): Promise<Response> {
  const response = await answer.catch((error: unknown) => {
    throw unreachable(error);
  });
  if (!response.ok) throw await refusalOf(response);
  return response;
}

/** The answer of a route. Rejects with ApiAnswerBroken when it breaks the contract. */
export async function answerIn<R extends Route>(response: Response, route: R): Promise<CallAnswer<R>> {
  const answer = await contentOf(response, route);
  checkAnswer(answer, route);
  return answer;
}

async function contentOf(response: Response, route: Route): Promise<unknown> {
  if (route.gives !== undefined) return response;
  return route.status === 204 ? null : jsonOf(response);
}

/**
 * Checks an answer against its contract. This types the received JSON and not the parsed value, which would lack the fields
 * of a newer console. That is sound while contracts of answers only check: they do not transform.
 */
function checkAnswer<R extends Route>(answer: unknown, route: R): asserts answer is CallAnswer<R> {
  if (answer instanceof Response) {
    if (answer.headers.get('content-length') !== '0') return;
    throw new ApiAnswerBroken([{ field: 'body', rule: 'is required' }]);
  }
  const checked = answerContract(route).safeParse(answer);
  if (checked.error) throw new ApiAnswerBroken(failedRules(checked.error));
}

/** The body as JSON, undefined when it is not JSON. */
async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (isSyntaxError(error)) return undefined;
    throw unreachable(error);
  }
}

async function refusalOf(response: Response): Promise<ApiRefusal> {
  const error = errorView.safeParse(await jsonOf(response));
  const { status: httpStatus } = response;
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiRefusal({
    httpStatus,
    code: error.data?.code ?? `http_${httpStatus}`,
    message: error.data?.message ?? `The answer ${httpStatus} is not from towhook.`,
    details: error.data?.details ?? [],
    retryAfterS: Number.isFinite(retryAfter) ? retryAfter : null,
    isOfConsole: error.success && error.data.message !== NO_SUCH_ADDRESS.message,
  });
}
