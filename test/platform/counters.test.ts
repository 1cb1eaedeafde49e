import { createMetrics } from '../../src/platform/log/metrics';
import { createCounters } from '../../src/platform/log/counters';

const NOTHING = { added: {}, highest: {} };

test('counters restart from zero after they were taken', () => {
  const counters = createCounters();
  counters.count('accepted.tow_request');
  counters.count('accepted.tow_request');
  counters.timed('attempt', 3);
  counters.timed('attempt', 4);
  expect(counters.take()).toEqual({ added: { 'accepted.tow_request': 2, 'attempt.2': 2 }, highest: {} });
  expect(counters.take()).toEqual(NOTHING);
});

test('a gauge keeps its highest value until it is taken', () => {
  const counters = createCounters();
  for (const due of [3, 9, 4]) counters.level('due.reports', due);
  expect(counters.take().highest).toEqual({ 'due.reports': 9 });
  expect(counters.take()).toEqual(NOTHING);
});

describe('metrics for the charts', () => {
  test('a delivery that is accepted and processed is counted for the charts', () => {
    const counters = createCounters();
    const metrics = createMetrics(counters);
    metrics.deliveryAccepted('tow_request');
    metrics.deliveryProcessed('tow_request', 'created', 40);
    expect(counters.take().added).toEqual({ 'accepted.tow_request': 1, 'processed.tow_request': 1, 'delivery.5': 1 });
  });

  test('a delivery that was processed before or is gone is not counted for the charts', () => {
    const counters = createCounters();
    const metrics = createMetrics(counters);
    metrics.deliveryProcessed('tow_invoice', 'settled_before', null);
    metrics.deliveryProcessed(null, 'gone', null);
    expect(counters.take()).toEqual(NOTHING);
  });

  test.each([
    ['accepted', 'accepted'],
    ['refused', 'refused'],
    ['retry', 'failed'],
    ['hold', 'failed'],
    ['unknown', 'unknown'],
  ] as const)('an attempt followed by the state %s is counted as %s for the charts', (next, outcome) => {
    const counters = createCounters();
    createMetrics(counters).reportAttempted('invoice', next, { durationMs: 150, wasSent: true });
    expect(counters.take().added).toEqual({ [`attempts.${outcome}`]: 1, 'attempt.7': 1 });
  });

  test('an attempt that was not sent does not count towards the response time of the service', () => {
    const counters = createCounters();
    createMetrics(counters).reportAttempted('invoice', 'retry', { durationMs: 0, wasSent: false });
    expect(counters.take().added).toEqual({ 'attempts.failed': 1 });
  });

  test('a delivered report is counted for the charts with the time since its fact', async () => {
    const counters = createCounters();
    const metrics = createMetrics(counters);
    metrics.reportDelivered('violation', 7_200_000);
    expect(counters.take().added).toEqual({ 'delivered.violation': 1, 'report.20': 1 });
    const { text } = await metrics.text();
    expect(text).toContain('towhook_report_delivery_seconds_bucket{le="14400",installation="main",kind="violation"} 1');
    expect(text).toContain('towhook_report_delivery_seconds_bucket{le="3600",installation="main",kind="violation"} 0');
  });
});
