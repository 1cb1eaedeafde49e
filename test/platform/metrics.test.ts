import { createCounters } from '../../src/platform/log/counters';
import { createMetrics } from '../../src/platform/log/metrics';

/** The values of one metric by its labels, but that of the installation. */
function valuesOf(text: string, name: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`));
  return Object.fromEntries(
    lines.map((line): [string, number] => {
      const end = line.lastIndexOf(' ');
      return [line.slice(name.length, end).replace(',installation="main"', ''), Number(line.slice(end))];
    }),
  );
}

test('a refused call on another path counts as a call to another address in the charts, and with its reason in the metrics', async () => {
  const counters = createCounters();
  const metrics = createMetrics(counters);
  metrics.deliveryAnswered('other', 401, 'signature_missing');
  metrics.deliveryAnswered('other', 429, 'too_many');
  metrics.deliveryAnswered('other', 200, 'not_for_towhook');
  metrics.deliveryAnswered('tow_request', 401, 'signature_missing');

  expect(counters.take().added).toEqual({
    'answers.address': 2,
    'answers.not_for_towhook': 1,
    'answers.signature_missing': 1,
  });
  expect(valuesOf((await metrics.text()).text, 'towhook_webhook_answers_total')).toMatchObject({
    '{kind="other",status="401",outcome="signature_missing"}': 1,
    '{kind="other",status="429",outcome="too_many"}': 1,
  });
});

describe('a watched gauge', () => {
  const AGE = { name: 'test_age_seconds', help: 'How old.', labelNames: [] };

  test('a watched gauge shows the current values and drops labels that are gone', async () => {
    const metrics = createMetrics();
    const states = [['here', 'there'], ['there']];
    metrics.watch({
      name: 'test_things',
      help: 'Things by state.',
      labelNames: ['state'],
      read: () => Promise.resolve((states.shift() ?? []).map((state) => ({ labels: { state }, value: state.length }))),
    });

    const first = await metrics.text();
    const second = await metrics.text();

    expect(valuesOf(first.text, 'test_things')).toEqual({ '{state="here"}': 4, '{state="there"}': 5 });
    expect(valuesOf(second.text, 'test_things')).toEqual({ '{state="there"}': 5 });
  });

  test('a watched gauge without labels shows no value instead of 0 while its value is unknown', async () => {
    const metrics = createMetrics();
    const known = [[{ labels: {}, value: 7 }], []];
    metrics.watch({ ...AGE, read: () => Promise.resolve(known.shift() ?? []) });

    expect((await metrics.text()).text).toMatch(/^test_age_seconds\{installation="main"\} 7$/m);
    expect((await metrics.text()).text).not.toMatch(/^test_age_seconds\S* \d/m);
  });

  test('a watched gauge that cannot be read is left out, and the others are still shown', async () => {
    const metrics = createMetrics();
    metrics.watch({ ...AGE, read: () => Promise.reject(new Error('away')) });
    metrics.deliveryAnswered('tow_request', 200, 'accepted');

    const { text } = await metrics.text();

    expect(text).not.toMatch(/^test_age_seconds\S* \d/m);
    expect(valuesOf(text, 'towhook_webhook_answers_total')).toEqual({
      '{kind="tow_request",status="200",outcome="accepted"}': 1,
    });
  });
});
