import { createMetrics } from '../../src/platform/metrics';

/** The values of one metric by its labels, as Prometheus would read them. */
function valuesOf(text: string, name: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`));
  return Object.fromEntries(
    lines.map((line): [string, number] => {
      const end = line.lastIndexOf(' ');
      return [line.slice(name.length, end), Number(line.slice(end))];
    }),
  );
}

describe('the backlog among the metrics', () => {
  test('is read whenever the metrics are', async () => {
    const metrics = createMetrics();
    let due = 0;
    metrics.watchBacklog('reports', async () => ({ due: (due += 1), oldestAgeMs: 1500 }));

    const first = await metrics.text();
    const second = await metrics.text();

    expect(valuesOf(first.text, 'towhook_due')).toEqual({ '{queue="reports"}': 1 });
    expect(valuesOf(second.text, 'towhook_due')).toEqual({ '{queue="reports"}': 2 });
    expect(valuesOf(second.text, 'towhook_due_oldest_seconds')).toEqual({ '{queue="reports"}': 1.5 });
  });

  test('that cannot be read is left out instead of being shown as it was, and the others still count', async () => {
    const metrics = createMetrics();
    let isAway = false;
    const known = { due: 3, oldestAgeMs: 0 };
    metrics.watchBacklog('deliveries', () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(known)));
    metrics.watchBacklog('reports', async () => known);
    metrics.deliveryAnswered('tow_request', 200);
    await metrics.text();
    isAway = true;

    const { text } = await metrics.text();

    expect(valuesOf(text, 'towhook_due')).toEqual({ '{queue="reports"}': 3 });
    expect(valuesOf(text, 'towhook_due_oldest_seconds')).toEqual({ '{queue="reports"}': 0 });
    expect(valuesOf(text, 'towhook_webhook_answers_total')).toEqual({ '{kind="tow_request",status="200"}': 1 });
  });
});
