import { tmpdir } from 'node:os';
import { z } from 'zod';
import { problemOf } from '../../src/cli/problems';
import { newKey } from '../operator/client';
import { newTow } from '../operator/world';
import { useApp } from '../support/app';
import { run, runProgram } from './command';
import { deadAddress, startServer } from './fake-service';

const app = useApp({ role: 'console' });
const towhook = (line: string, apiKey: string | null = app.apiKey) =>
  run(line.split(' '), { url: app.consoleUrl, apiKey });

test.each([
  ['tow show nope', /There is no such thing/, /list/],
  ['tow step nope accepted', /There is no such/, /list/],
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
  ['tow photos x /tmp'],
  ['capacity nonsense'],
  ['tow list --limit 0'],
  ['tow list --cursor nonsense'],
  ['tow detained x --occurred-at yesterday'],
  ['tow step x en_route --occurred-at 2026-11-20'],
  ['report correct x started-1 --status-update-time soon'],
  ['tow detained x --idempotency-key ä'],
])('%s is wrong use, and nothing is sent: 2', async (line) => {
  const said = await run(line.split(' '), { url: await deadAddress(), apiKey: 'any' });
  expect([said.exitCode, said.out]).toEqual([2, '']);
  expect(said.problems).toMatch(/--help|Usage:/);
});

const FORM = ['--plate-number', 'ABJ 1235', '--plate-type', 'PRIVATE', '--violation-type', 'WRONG_PARKING'].concat(
  ['--zone-id', '3f2b8c1e-5d7a-4e0f-9c66-1a2b3c4d5e6f', '--location', 'here'],
  ['--latitude', '24.69', '--longitude', '46.68'],
);

test.each([
  [['--date', 'yesterday'], '--date must be an ISO 8601 time'],
  [['--metadata', '['], '--metadata must be JSON'],
  [['--metadata', '[]'], '--metadata must be an object'],
  [['--full-name', 'x'.repeat(1001)], '--full-name must be at most 1000'],
  [['--image', tmpdir()], `${tmpdir()} is no file that can be read`],
])('a violation with %j is wrong use, and nothing is sent: 2', async (words, why) => {
  const said = await run(['violation', 'create', ...FORM, ...words], { url: await deadAddress(), apiKey: 'any' });
  expect([said.exitCode, said.out]).toEqual([2, '']);
  expect(said.problems).toContain(why);
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

test('an address that no program calls: 3, and why', async () => {
  const said = await run(['queue', 'stats'], { url: 'http://127.0.0.1:1', apiKey: 'any' });
  expect(said.exitCode).toBe(3);
  expect(said.problems).toContain('No answer: connection refused before it was tried');
});

test.each([301, 401, 403, 404, 405, 501])('something else than towhook that answers %d: 3', async (status) => {
  const other = await startServer((_request, response) => response.writeHead(status).end('<html>no</html>'));
  const said = await run(['tow', 'show', 'x'], { url: other.url, apiKey: 'any' });
  await other.stop();
  expect(said.exitCode).toBe(3);
  expect(said.problems).toMatch(/^towhook: What answers is no towhook console.*\nCheck TOWHOOK_URL/);
});

test('a part of towhook that is not the console: 3', async () => {
  const said = await run(['tow', 'show', 'x'], { url: `${app.consoleUrl}/elsewhere`, apiKey: app.apiKey });
  expect(said.exitCode).toBe(3);
  expect(said.problems).toContain('no towhook console');
});

test('something else than towhook: 3', async () => {
  const other = await startServer((_request, response) => response.end('<html>hello</html>'));
  const said = await run(['queue', 'stats'], { url: other.url, apiKey: 'any' });
  await other.stop();
  expect(said.exitCode).toBe(3);
  expect(said.problems).toContain('no towhook console, or another version');
});

test.each([
  ['no key', null],
  ['a wrong key', 'wrong'],
])('%s: 4', async (_name, apiKey) => {
  const said = await towhook('queue stats', apiKey);
  expect(said.exitCode).toBe(4);
  expect(said.problems).toContain('TOWHOOK_API_KEY');
});

test.each([
  ['a carriage return', 'abc\rSECRETPART'],
  ['a line end', 'abc\nSECRETPART\n'],
  ['a space', 'abc SECRETPART'],
  ['a byte order mark', '\ufeffabcSECRETPART'],
  ['letters that no header holds', 'مفتاحSECRETPART'],
])('a key with %s: 4, and it is not repeated', async (_name, key) => {
  const url = await deadAddress();
  for (const variable of ['TOWHOOK_API_KEY', 'BOOTSTRAP_API_KEY']) {
    const said = await runProgram(['tow', 'list'], { environment: { TOWHOOK_URL: url, [variable]: key } });
    expect([said.exitCode, said.out]).toEqual([4, '']);
    expect(said.problems).toContain(`${variable} must be visible Latin characters alone`);
    expect(said.problems).not.toMatch(/SECRETPART|abc/);
  }
});

test('a key that is not used may be anything', async () => {
  const environment = { TOWHOOK_URL: await deadAddress(), TOWHOOK_API_KEY: 'any', BOOTSTRAP_API_KEY: 'a b' };
  expect((await runProgram(['tow', 'list'], { environment })).exitCode).toBe(3);
});

test('what goes wrong unforeseen is told without the words of a library', () => {
  const told = JSON.stringify([
    problemOf(new TypeError('Headers.set: "Bearer SECRETPART" is an invalid header value.'), null),
    problemOf(Object.assign(new Error('EPERM: SECRETPART'), { code: 'EPERM' }), null),
  ]);
  expect(told).toContain('It could not be done: EPERM.');
  expect(told).not.toContain('SECRETPART');
});

test('what was fetched and cannot be kept is wrong use of --output: 2', async () => {
  const giver = await startServer((_request, response) => response.writeHead(200).end('image'));
  const words = ['tow', 'photo', 'x', 'photo-1', '--output', '/there/is/no/folder/x.jpg'];
  const said = await run(words, { url: giver.url, apiKey: 'any' });
  await giver.stop();
  expect(said.exitCode).toBe(2);
  expect(said.problems).toContain('--output cannot be written (ENOENT)');
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
