import type { AnswerOf, ApiCall, JsonRoute, OperatorApi } from '../../../workflow/operator-port';

/** What a route answers that nobody who may see the page is refused. Rejects where it is refused all the same. */
export async function ask<R extends JsonRoute>(api: OperatorApi, route: R, call: ApiCall): Promise<AnswerOf<R>> {
  const answer = await api.call(route, call);
  if (!answer.ok) throw new Error(`${route.path} was refused as ${answer.refusal.code}`);
  return answer.value;
}
