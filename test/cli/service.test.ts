import { run } from './command';
import { useInstallation } from './installation';

const installation = useInstallation();

function towhook(...words: readonly string[]) {
  const { app } = installation();
  return run(words, { url: app.consoleUrl, apiKey: app.apiKey });
}

test('towhook service and towhook shadow show what the API knows, as text and as JSON', async () => {
  const shown = await towhook('service', 'show');
  expect([shown.exitCode, shown.problems]).toEqual([0, '']);
  expect(shown.out).toMatch(/^ +started +0/m);
  expect((await towhook('service', 'differences', '--json')).json()).toEqual({ items: [] });
  expect((await towhook('shadow', 'list', '--json')).json()).toMatchObject({ items: [], held: 0 });
  expect((await towhook('shadow', 'export')).out).toMatch(/^kind,|^\w+(,\w+)+/);
});

test.each([
  [['service', 'expect', 'answer.started.0000']],
  [['shadow', 'send', 'TW-20261120-NONE00']],
  [['shadow', 'decline', 'TW-20261120-NONE00', '--reason', 'reported by hand']],
  [['shadow', 'send-violation', 'no-such-violation']],
  [['shadow', 'decline-violation', 'no-such-violation', '--reason', 'reported by hand']],
])('towhook %j names what does not exist and ends with 1', async (words) => {
  const result = await towhook(...words);
  expect([words, result.exitCode, result.out]).toEqual([words, 1, '']);
  expect(result.problems).toMatch(/no such|nothing with this id/i);
});
