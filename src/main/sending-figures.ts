import type { SendingView } from '../contracts/operator';
import type { Figure, Metrics } from '../platform/metrics';
import type { SendingStore } from '../workflow/ports';

/** Shows among the metrics what holds sending, and how much of the budgets is used. */
export function watchSending(metrics: Metrics, sending: SendingStore): void {
  const watch = (name: string, help: string, labelNames: readonly string[], figures: (view: SendingView) => Figure[]) =>
    metrics.watch({ name, help, labelNames, read: async () => figures(await sending.read()) });
  watch('towhook_gate_closed', 'What holds sending now: 1 = closed.', ['gate'], gatesOf);
  watch('towhook_held_tows', 'Tows and violations that wait for a gate.', [], ({ held }) => [
    { labels: {}, value: held },
  ]);
  watch('towhook_budget_used', 'Calls of the last minute that count against a budget.', ['budget'], ({ budgets }) =>
    budgets
      .filter(({ per_minute: limit }) => limit > 0)
      .map(({ name, used }) => ({ labels: { budget: name }, value: used })),
  );
  watch('towhook_budget_waiting', 'Tows and violations that wait for a slot of their budget.', [], ({ budgets }) => [
    { labels: {}, value: budgets.reduce((total, { waiting }) => total + waiting, 0) },
  ]);
}

function gatesOf({ connection, service, operations }: SendingView): Figure[] {
  return [
    { labels: { gate: 'connection' }, value: connection.state === 'broken' ? 1 : 0 },
    { labels: { gate: 'outage' }, value: service.state === 'down' ? 1 : 0 },
    ...operations.map(({ operation, state }) => ({
      labels: { gate: `paused_${operation}` },
      value: state === 'paused' ? 1 : 0,
    })),
  ];
}
