import { tmpdir } from 'node:os';
import { z } from 'zod';
import type { Backups } from '../../src/cli';
import { problemOf } from '../../src/cli/problems';
import { newKey } from '../operator/client';
import { newTow } from '../operator/world';
import { useApp } from '../support/app';
import { run, runProgram, runWith, type ProgramRun } from './command';
import { DEAD_ADDRESS, startServer } from './fake-service';

const app = useApp({ role: 'console' });
const towhook = (line: string, apiKey: string | null = app.apiKey) =>
  run(line.split(' '), { url: app.consoleUrl, apiKey });

test.each([
  ['tow show nope', /There is nothing with this id/, /`towhook tow list`\. A tow is known once/],
  ['tow step nope accepted', /There is no such/, /`towhook tow list`/],
  ['queue pause nope', /Queues are deliveries/, /\nLook for it with `towhook queue stats`\.$/],
  ['service expect nope', /There is no such/, /\nLook for it with `towhook service differences`\.$/],
  ['run show nope', /There is nothing with this id/, /`towhook run list`/],
  ['run start nope', /There is no such run/, /`towhook run list`/],
  ['operation resume nope', /There is no such/, /\nLook for it/],
  ['capacity nonsense', /invalid/, /zone_id/],
  ['report retry nope started-1', /There is no/, /\nA tow is known once its webhook is processed\.$/],
  ['operation resume started', /not paused/, /\nIts state .* Look at it with `towhook operation list`\.$/],
])('towhook exits with 1 when "%s" is refused, and prints the reason and what to do next', async (line, why, next) => {
  const result = await towhook(line);
  expect([result.exitCode, result.out]).toEqual([1, '']);
  expect(result.problems).toMatch(why);
  expect(result.problems).toMatch(next);
});

test.each(['tow lift REF nope --reason x', 'report retry REF nope'])(
  'towhook names `tow show` when "%s" names something that the tow does not have',
  async (line) => {
    const result = await towhook(line.replace('REF', await newTow(app)));
    expect(result.exitCode).toBe(1);
    expect(result.problems).toMatch(/There is no such .*\nLook for it with `towhook tow show`\.$/);
  },
);

test('towhook ticket check does not say that it makes a change when the service cannot be asked', async () => {
  const vehicle = '--zone-id 3f2b8c1e-5d7a-4e0f-9c66-1a2b3c4d5e6f --plate-number ABJ1234 --plate-type PRIVATE';
  const result = await towhook(`ticket check ${vehicle}`);
  expect(result.exitCode).toBe(3);
  expect(result.problems).toMatch(/\nTry again (later|in \d+ s)\.$/);
});

test('towhook exits with 1 when the state of the tow does not allow the command', async () => {
  const ref = await newTow(app);
  const result = await towhook(`tow detained ${ref}`);
  expect(result.exitCode).toBe(1);
  expect(result.problems).toContain('Its state does not allow this now');
});

test('towhook exits with 1 when the role of the key does not allow the command', async () => {
  const viewer = await newKey(app, 'viewer');
  const result = await towhook('key list', viewer);
  expect(result.exitCode).toBe(1);
  expect(result.problems).toContain('This call needs the role ops.');
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
  ['task list --type report_refusd'],
  ['tow canceled x'],
  ['tow assign x'],
  ['tow step x flying'],
  ['violation create'],
  ['violation create --metadata {'],
  ['ticket check --plate-type NONE'],
  ['key create --name x --role king'],
  ['tow photos x --image /there/is/no/such.jpg'],
  ['tow photos x --image /tmp'],
  ['tow invoice x'],
  ['api GET /api/nothing'],
  ['api GET http://['],
  ['api GET /api/tows --data {}'],
  ['api POST /api/tows/x/photos'],
  ['api POST /api/queues/reports/pause --data {'],
  ['tow list --limit 0'],
  ['tow list --limit 0x10'],
  ['tow list --cursor nonsense'],
  ['tow detained x --occurred-at yesterday'],
  ['tow step x en_route --occurred-at 2026-11-20'],
  ['report correct x started-1 --status-update-time soon'],
  ['tow detained x --idempotency-key ä'],
])('towhook exits with 2 on invalid usage "%s" and sends nothing', async (line) => {
  const result = await run(line.split(' '), { url: DEAD_ADDRESS, apiKey: 'any' });
  expect([result.exitCode, result.out]).toEqual([2, '']);
  expect(result.problems).toMatch(/--help|Usage:/);
});

test.each([
  [['tow', 'show', '']],
  [['tow', 'photo', 'TW-1', '..', '--output', '/tmp/photo']],
  [['tow', 'lift', '.', 'hold-1']],
  [['violation', 'image', 'v-1', '..', '--output', '/tmp/image']],
  [['key', 'revoke', '']],
  [['delivery', 'replay', '..']],
])('towhook exits with 2 and sends nothing for %j, whose call would reach another address', async (words) => {
  const result = await run(words, { url: DEAD_ADDRESS, apiKey: 'any' });
  expect([result.exitCode, result.out]).toEqual([2, '']);
  expect(result.problems).toMatch(/^towhook: \w+ must not be empty, "\." or "\.\."$/m);
});

test.each([
  ['folder', ['restore', '', '--verify']],
  ['folder', ['backup', '']],
  ['file', ['violation', 'import', '']],
])('towhook exits with 2 for the empty argument <%s> of %j', async (name, words) => {
  const result = await run(words, { url: DEAD_ADDRESS, apiKey: 'any' });
  expect([result.exitCode, result.out]).toEqual([2, '']);
  expect(result.problems).toContain(`towhook: ${name} must not be empty\n`);
});

test('towhook restore --verify names what was checked', async () => {
  expect((await towhook('restore --verify')).out).toMatch(/^Checked: the Redis and DATA_DIR of the environment\n/);
  expect((await towhook('restore /backups/1 --verify')).out).toMatch(/^Checked: the backup in \/backups\/1\n/);
  expect((await towhook('restore /backups/1 --verify --json')).json()).toMatchObject({ folder: '/backups/1' });
});

const FAULTY = 'The backup has faults. Use an earlier one, or restore it with --despite-faults.';
const UNUSABLE = 'The backup cannot be restored, also not with --despite-faults: its snapshot cannot be used.';

test.each([
  ['faulty', 'restore /backups/1', `Nothing was restored. ${FAULTY}`],
  ['faulty', 'restore /backups/1 --verify', FAULTY],
  ['unusable', 'restore /backups/1 --despite-faults', `Nothing was restored. ${UNUSABLE}`],
  ['unusable', 'restore /backups/1 --verify', UNUSABLE],
  ['faulty', 'restore --verify', '1 fault, 0 warnings.'],
] as const)(
  'towhook ends the output about a backup that is %s after "%s" with what is left to do',
  async (kind, line, end) => {
    const fault = { check: 'redis', state: 'fault', code: 'x', what: 'broken', fix: 'Repair it.' } as const;
    const backups: Backups = {
      take: () => Promise.reject(new Error('no backup is taken')),
      restore: () => Promise.resolve({ kind, takenAt: null, note: 'not_tried', findings: [fault] }),
    };
    const result = await run(line.split(' '), { url: app.consoleUrl, apiKey: app.apiKey, backups });
    expect(result.exitCode).toBe(1);
    expect(result.out.split('\n').at(-1)).toBe(end);
  },
);

test('towhook takes "." as the folder of a backup and as the text of a note', async () => {
  const ref = await newTow(app);
  expect((await towhook('backup .')).exitCode).toBe(0);
  expect((await towhook(`tow note ${ref} .`)).exitCode).toBe(0);
});

const FORM = ['--plate-number', 'ABJ 1235', '--plate-type', 'PRIVATE', '--violation-type', 'WRONG_PARKING'].concat(
  ['--zone-id', '3f2b8c1e-5d7a-4e0f-9c66-1a2b3c4d5e6f', '--location', 'here'],
  ['--latitude', '24.69', '--longitude', '46.68'],
);

test.each([
  ['--date must be an ISO 8601 time', ['--date', 'yesterday']],
  ['--metadata must be JSON', ['--metadata', '[']],
  ['--metadata must be an object', ['--metadata', '[]']],
  ['--full-name must be at most 1000', ['--full-name', 'x'.repeat(1001)]],
  [`${tmpdir()} is not a file that can be read`, ['--image', tmpdir()]],
])('towhook exits with 2 and sends nothing for a violation with an invalid option: "%s"', async (why, words) => {
  const result = await run(['violation', 'create', ...FORM, ...words], { url: DEAD_ADDRESS, apiKey: 'any' });
  expect([result.exitCode, result.out]).toEqual([2, '']);
  expect(result.problems).toContain(why);
});

test('towhook names the option of every missing field of a violation', async () => {
  const { problems } = await towhook('violation create --plate-type PRIVATE');
  for (const name of ['plate-number', 'violation-type', 'zone-id', 'location', 'latitude', 'longitude']) {
    expect(problems).toContain(`--${name} is required`);
  }
  expect(problems).not.toContain('--plate-type');
});

test('towhook exits with 3 when no server answers, and explains how to repeat the command with its idempotency key', async () => {
  const words = ['tow', 'detained', 'x', '--idempotency-key', 'mine'];
  const result = await run(words, { url: DEAD_ADDRESS, apiKey: 'any' });
  expect(result.exitCode).toBe(3);
  expect(result.problems).toMatch(/towhook did not answer: connection refused.*TOWHOOK_URL.*--idempotency-key mine/s);
});

test.each([429, 503])('towhook exits with 3 on an answer %d and prints its Retry-After', async (status) => {
  const busy = await startServer((_request, response) => {
    response.writeHead(status, { 'retry-after': '7', 'content-type': 'application/json' });
    response.end('{"code":"busy","message":"Too much to do.","details":[]}');
  });
  const result = await run(['queue', 'stats'], { url: busy.url, apiKey: 'any' });
  await busy.stop();
  expect(result.exitCode).toBe(3);
  expect(result.problems).toBe('towhook: Too much to do.\nTry again in 7 s.');
});

test('towhook exits with 3 and names the reason when the port may not be called', async () => {
  const result = await run(['queue', 'stats'], { url: 'http://127.0.0.1:1', apiKey: 'any' });
  expect(result.exitCode).toBe(3);
  expect(result.problems).toContain('the port of TOWHOOK_URL belongs to another protocol');
});

test.each([301, 401, 403, 404, 405, 501])(
  'towhook exits with 3 when a server that is not towhook answers %d',
  async (status) => {
    const other = await startServer((_request, response) => response.writeHead(status).end('<html>no</html>'));
    const result = await run(['tow', 'show', 'x'], { url: other.url, apiKey: 'any' });
    await other.stop();
    expect(result.exitCode).toBe(3);
    expect(result.problems).toMatch(/^towhook: The answer is not from a towhook console.*\nCheck TOWHOOK_URL/);
  },
);

test('towhook exits with 3 when the URL is not that of the towhook console', async () => {
  const result = await run(['tow', 'show', 'x'], { url: `${app.consoleUrl}/elsewhere`, apiKey: app.apiKey });
  expect(result.exitCode).toBe(3);
  expect(result.problems).toContain('not from a towhook console');
});

test('towhook exits with 3 when a server that is not towhook answers 200', async () => {
  const other = await startServer((_request, response) => response.end('<html>hello</html>'));
  const result = await run(['queue', 'stats'], { url: other.url, apiKey: 'any' });
  await other.stop();
  expect(result.exitCode).toBe(3);
  expect(result.problems).toContain('not from a towhook console of this version');
});

test.each([
  ['no API key', null],
  ['a wrong API key', 'wrong'],
])('towhook exits with 4 when the command has %s', async (_case, apiKey) => {
  const result = await towhook('queue stats', apiKey);
  expect(result.exitCode).toBe(4);
  expect(result.problems).toContain('TOWHOOK_API_KEY');
});

test.each([
  ['a carriage return', 'abc\rSECRETPART'],
  ['a newline', 'abc\nSECRETPART\n'],
  ['a space', 'abc SECRETPART'],
  ['a byte order mark', 'abc\ufeffSECRETPART'],
  ['non-Latin letters', 'مفتاحSECRETPART'],
])('towhook exits with 4 for an API key with %s and does not print the key', async (_case, key) => {
  for (const variable of ['TOWHOOK_API_KEY', 'BOOTSTRAP_API_KEY']) {
    const result = await runWith(['tow', 'list'], { TOWHOOK_URL: DEAD_ADDRESS, [variable]: key });
    expectUnusableKey(result, variable);
  }
});

test('towhook run as a program exits with 4 for an API key with a newline and does not print the key', async () => {
  const environment = { TOWHOOK_URL: DEAD_ADDRESS, TOWHOOK_API_KEY: 'abc\nSECRETPART\n' };
  expectUnusableKey(await runProgram(['tow', 'list'], { environment }), 'TOWHOOK_API_KEY');
});

function expectUnusableKey({ exitCode, out, problems }: ProgramRun, variable: string): void {
  expect([exitCode, out]).toEqual([4, '']);
  expect(problems).toContain(`${variable} must be visible Latin characters alone`);
  expect(problems).not.toMatch(/SECRETPART|abc/);
}

test.each([{ BOOTSTRAP_API_KEY: 'a b' }, { BOOTSTRAP_API_KEY_FILE: '/missing' }, { CONSOLE_PORT: 'abc' }])(
  'towhook with TOWHOOK_URL and TOWHOOK_API_KEY ignores %j, which these replace',
  async (replaced) => {
    const environment = { TOWHOOK_URL: DEAD_ADDRESS, TOWHOOK_API_KEY: 'any', ...replaced };
    expect((await runWith(['tow', 'list'], environment)).exitCode).toBe(3);
  },
);

test.each([
  [{ TOWHOOK_URL: DEAD_ADDRESS, BOOTSTRAP_API_KEY_FILE: '/missing' }, 'BOOTSTRAP_API_KEY_FILE'],
  [{ TOWHOOK_API_KEY: 'any', CONSOLE_PORT: 'abc' }, 'CONSOLE_PORT'],
])('towhook with %j names the wrong setting that nothing replaces', async (environment, variable) => {
  const { exitCode, problems } = await runWith(['tow', 'list'], environment);
  expect([exitCode, problems]).toEqual([2, expect.stringContaining(variable)]);
});

test('towhook reports an unexpected error without the message of the library that threw it', () => {
  const problems = JSON.stringify([
    problemOf(new TypeError('Headers.set: "Bearer SECRETPART" is an invalid header value.'), null),
    problemOf(Object.assign(new Error('EPERM: SECRETPART'), { code: 'EPERM' }), null),
  ]);
  expect(problems).toContain('The command failed: EPERM.');
  expect(problems).not.toContain('SECRETPART');
});

test('towhook exits with 2 when a downloaded photo cannot be written to --output', async () => {
  const photoServer = await startServer((_request, response) => response.writeHead(200).end('image'));
  const words = ['tow', 'photo', 'x', 'photo-1', '--output', '/there/is/no/folder/x.jpg'];
  const result = await run(words, { url: photoServer.url, apiKey: 'any' });
  await photoServer.stop();
  expect(result.exitCode).toBe(2);
  expect(result.problems).toContain('--output cannot be written (ENOENT)');
});

test('towhook prints a problem as one JSON line on standard error with --json', async () => {
  const result = await towhook('tow show nope --json');
  const problem = z
    .strictObject({
      exit_code: z.number(),
      http_status: z.number(),
      code: z.string(),
      message: z.string(),
      details: z.array(z.unknown()),
      next: z.string(),
    })
    .parse(JSON.parse(result.problems));
  expect(problem).toMatchObject({ exit_code: 1, http_status: 404, code: 'not_found' });
});

test('towhook does not print the entered plate number in any problem', async () => {
  const ref = await newTow(app);
  const result = await run(['tow', 'started', ref, '--plate-number', 'ZZZ 9876'], {
    url: app.consoleUrl,
    apiKey: app.apiKey,
  });
  const unsent = await run(['tow', 'started', ref, '--plate-number', `ZZZ 9876${'9'.repeat(50)}`], {
    url: app.consoleUrl,
    apiKey: app.apiKey,
  });
  expect([result.exitCode, unsent.exitCode]).toEqual([1, 2]);
  for (const { problems } of [result, unsent]) expect(problems).not.toContain('9876');
});
