import { judgeDeliveries } from '../../jobs/judge-deliveries';
import { WEBHOOK_READERS, type WebhookReaders } from '../../src/contracts/read-webhook';
import { towRequestWebhook } from '../../src/contracts/webhooks';
import { createDifferenceStore } from '../../src/store/differences';
import { createJudgementStore } from '../../src/store/judgements';
import { judgeAgain, previewJudgement } from '../../src/workflow/judge-again';
import { deliveryTools, TESTER, towRequest, type Stores } from '../support/stores';

/** Metadata as a list: no version of the contract allows it yet. */
export const odd = (ref: string, violation = `V-${ref}`) => ({
  ...towRequest(ref),
  violation_reference_id: violation,
  metadata: [ref],
});

/** A later contract, which ignores metadata that is a list. */
export const WIDER: WebhookReaders = {
  ...WEBHOOK_READERS,
  tow_request: (rawBody) => {
    const read = WEBHOOK_READERS.tow_request(rawBody);
    const parsed = towRequestWebhook.safeParse({ ...JSON.parse(rawBody), metadata: null });
    return parsed.success ? { kind: 'message', message: parsed.data, tolerated: [] } : read;
  },
};

/** What tests of judgements do with the stores that are open at the time. */
export function judgementSteps(stores: () => Stores) {
  const judgements = () => createJudgementStore(stores().redis);
  const differences = () => createDifferenceStore(stores().redis);
  const tools = (readers: WebhookReaders) => ({
    ...deliveryTools(stores().redis),
    readers,
    judgements: judgements(),
    differences: differences(),
  });
  /** The only kind of difference. */
  async function kind() {
    const [found, ...others] = await differences().all();
    if (!found || others.length > 0) throw new Error('not one kind of difference');
    return found;
  }
  const preview = async (readers: WebhookReaders) =>
    previewJudgement(
      { judgements: judgements(), differences: differences(), deliveries: stores().deliveries, readers },
      (await kind()).id,
    );
  async function start() {
    const { id } = await kind();
    const request = { differenceId: id, reason: undefined, actor: TESTER, idempotency: undefined };
    return (await judgeAgain({ judgements: judgements(), differences: differences() }, request)).kind;
  }
  /** Runs the job until the run is over. */
  async function judge(readers: WebhookReaders) {
    const { id } = await kind();
    const run = await judgeDeliveries(id, tools(readers));
    expect(run).toEqual({ kind: 'done', what: 'judged' });
    return judgements().read(id);
  }
  async function accept(ref: string, body = odd(ref), id = `odd-${ref}`) {
    await stores().accept('tow_request', body, id);
    return stores().process(id);
  }
  const stateOf = async (id: string) => {
    const delivery = await stores().deliveries.read(id);
    return delivery && [delivery.state, delivery.verdict];
  };
  return { judgements, differences, tools, kind, preview, start, judge, accept, stateOf };
}
