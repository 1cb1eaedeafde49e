import { z } from 'zod';
import { newKey } from '../operator/client';
import { newTow } from '../operator/world';
import { useApp } from '../support/app';
import { run } from './command';
import { deadAddress, startServer } from './fake-service';

const app = useApp({ role: 'console' });
const towhook = (line: string, apiKey: string | null = app.apiKey) =>
  run(line.split(' '), { url: app.consoleUrl, apiKey });

test.each([
  ['tow show nope', /There is no such thing/, /list/],
  ['tow step nope accepted', /There is no such/, /list/],
  ['capacity nonsense', /zone_id must be a UUID/, /zone_id/],
  ['queue pause nope', /Queues are deliveries/, /list/],
])('%s is refused: 1', async (line, why, next) => {
  const said = await towhook(line);
  expect([said.exitCode, said.out]).toEqual([1, '']);
  expect(said.problems).toMatch(why);
  expect(said.problems).toMatch(next);
});

test('what the state of a tow does not allow is refused: 1', async () => {
  const ref = await newTow(app);
  const said = await towhook(`tow detained ${ref}`);
  expect(said.exitCode).toBe(1);
  expect(said.problems).toContain('its state does not allow this now');
});

test('what a role may not do is refused: 1', async () => {
  const viewer = await newKey(app, 'viewer');
  const said = await towhook('key list', viewer);
  expect(said.exitCode).toBe(1);
  expect(said.problems).toContain('This needs the role ops.');
});

test.each([
  ['nonsense'],
  ['tow'],
  ['tow invioce x'],
  ['tow show'],
  ['tow show one two'],
  ['tow started x --latitude north'],
  ['tow started x --latitude 91'],
  ['tow list --state flying'],
  ['tow canceled x'],
  ['tow assign x'],
  ['tow step x flying'],
  ['violation create'],
  ['violation create --metadata {'],
  ['ticket check --plate-type NONE'],
  ['operation resume nope'],
  ['key create --name x --role king'],
  ['tow photos x /there/is/no/such.jpg'],
])('%s is wrong use, and nothing is sent: 2', async (line) => {
  const said = await run(line.split(' '), { url: await deadAddress(), apiKey: 'any' });
  expect([said.exitCode, said.out]).toEqual([2, '']);
  expect(said.problems).toMatch(/--help|Usage:/);
});

test('every missing field of a violation is named by its option', async () => {
  const { problems } = await towhook('violation create --plate-type PRIVATE');
  for (const name of ['plate-number', 'violation-type', 'zone-id', 'location', 'latitude', 'longitude']) {
    expect(problems).toContain(`--${name} is required`);
  }
  expect(problems).not.toContain('--plate-type');
});

test('a towhook that does not answer: 3, and how to repeat what may have had its effect', async () => {
  const words = ['tow', 'detained', 'x', '--idempotency-key', 'mine'];
  const said = await run(words, { url: await deadAddress(), apiKey: 'any' });
  expect(said.exitCode).toBe(3);
  expect(said.problems).toMatch(/No answer: connection refused.*TOWHOOK_URL.*--idempotency-key mine/s);
});

test.each([429, 503])('an answer %d: 3, and when to come back', async (status) => {
  const busy = await startServer((_request, response) => {
    response.writeHead(status, { 'retry-after': '7', 'content-type': 'application/json' });
    response.end('{"code":"busy","message":"Too much to do.","details":[]}');
  });
  const said = await run(['queue', 'stats'], { url: busy.url, apiKey: 'any' });
  await busy.stop();
  expect(said.exitCode).toBe(3);
  expect(said.problems).toBe('towhook: Too much to do.\nTry again in 7 s.');
});

test('something else than towhook: 3', async () => {
  const other = await startServer((_request, response) => response.end('<html>hello</html>'));
  const said = await run(['queue', 'stats'], { url: other.url, apiKey: 'any' });
  await other.stop();
  expect(said.exitCode).toBe(3);
  expect(said.problems).toContain('no towhook, or another version');
});

test.each([
  ['no key', null],
  ['a wrong key', 'wrong'],
])('%s: 4', async (_name, apiKey) => {
  const said = await towhook('queue stats', apiKey);
  expect(said.exitCode).toBe(4);
  expect(said.problems).toContain('TOWHOOK_API_KEY');
});

test('with --json a problem is one JSON line on standard error', async () => {
  const said = await towhook('tow show nope --json');
  const problem = z
    .strictObject({
      exit_code: z.number(),
      http_status: z.number(),
      code: z.string(),
      message: z.string(),
      details: z.array(z.unknown()),
      next: z.string(),
    })
    .parse(JSON.parse(said.problems));
  expect(problem).toMatchObject({ exit_code: 1, http_status: 404, code: 'not_found' });
});

test('no problem repeats the plate that was entered', async () => {
  const ref = await newTow(app);
  const said = await run(['tow', 'started', ref, '--plate-number', 'ZZZ 9876'], {
    url: app.consoleUrl,
    apiKey: app.apiKey,
  });
  const unsent = await run(['tow', 'started', ref, '--plate-number', `ZZZ 9876${'9'.repeat(50)}`], {
    url: app.consoleUrl,
    apiKey: app.apiKey,
  });
  expect([said.exitCode, unsent.exitCode]).toEqual([1, 2]);
  for (const { problems } of [said, unsent]) expect(problems).not.toContain('9876');
});
