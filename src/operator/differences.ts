import { ROUTES } from '../contracts/operator-routes';
import { WEBHOOK_READERS } from '../contracts/read-webhook';
import { judgeAgain, judgementViewOf, previewJudgement } from '../workflow/judge-again';
import type { JudgementStore } from '../workflow/judgement-port';
import type { DeliveryStore, DifferenceStore } from '../workflow/ports';
import { differenceViewOf, expectDifference } from '../workflow/expect-difference';
import { readServiceView, type SeenServiceStore } from '../workflow/service-view';
import type { RecordStore } from '../workflow/transaction-port';
import type { ApiServer } from './api-server';

export interface DifferenceRouteTools {
  readonly differences: DifferenceStore;
  readonly seenService: SeenServiceStore;
  readonly records: RecordStore;
  readonly judgements: JudgementStore;
  readonly deliveries: DeliveryStore;
}

/** The service as it was seen, how its messages differ from its document, and the webhooks that wait because of that. */
export function serveDifferences(server: ApiServer, tools: DifferenceRouteTools): void {
  const { differences } = tools;
  server.read(ROUTES.readService, () => readServiceView(tools));
  server.read(ROUTES.listDifferences, async () => ({ items: (await differences.all()).map(differenceViewOf) }));
  server.change(ROUTES.expectDifference, ({ params, body, actor }) => ({
    effect: (idempotency) =>
      expectDifference(tools, { id: params('difference_id'), reason: body.reason, actor, idempotency }),
  }));
  const judging = { ...tools, readers: WEBHOOK_READERS };
  server.read(ROUTES.previewJudgement, ({ params }) => previewJudgement(judging, params('difference_id')));
  server.change(ROUTES.judgeAgain, ({ params, body, actor }) => {
    const differenceId = params('difference_id');
    return {
      effect: (idempotency) => judgeAgain(tools, { differenceId, reason: body.reason, actor, idempotency }),
      answer: async () => {
        const run = await tools.judgements.read(differenceId);
        return run && judgementViewOf(run);
      },
    };
  });
}
