import { parse } from 'csv-parse/sync';
import { z } from 'zod';
import { newApiKeyView, queueView } from '../../src/contracts/operator';
import { violationView } from '../../src/contracts/violation/violations';
import { riyadhTime, table } from '../../src/cli/answer-text';
import { EXIT } from '../../src/cli/problems';
import { withhold } from '../../src/domain/outbox/withheld';
import { clearDisk, COMPLETE, report, violationIn } from '../operator/forms';
import { deliver, newTow, record, towAfter } from '../operator/world';
import { useApp } from '../support/app';
import { changeInStore } from '../support/stores';
import { run, type ProgramRun } from './command';

const app = useApp({ role: 'console' });
beforeEach(() => clearDisk(app));
const towhook = (...words: readonly string[]): Promise<ProgramRun> =>
  run(words, { url: app.consoleUrl, apiKey: app.apiKey });

test.each([
  ['tow list'],
  ['tow list --all'],
  ['violation list'],
  ['task list'],
  ['delivery list'],
  ['delivery refused'],
  ['queue stats'],
  ['operation list'],
  ['key list'],
  ['conservation'],
  ['service show'],
  ['service differences'],
  ['shadow list'],
  ['alarm list'],
  ['notifications show'],
  ['audit list'],
])('towhook %s prints exactly one JSON document with --json, and text without it', async (line) => {
  await newTow(app);
  const words = line.split(' ');
  const asJson = await towhook(...words, '--json');
  const asText = await towhook(...words);

  expect([asJson.exitCode, asJson.problems]).toEqual([0, '']);
  expect(typeof asJson.json()).toBe('object');
  expect([asText.exitCode, asText.problems]).toEqual([0, '']);
  expect(() => asText.json()).toThrow(SyntaxError);
});

test('towhook prints times in UTC with --json and in Riyadh time without it', async () => {
  const ref = await newTow(app);
  const shown = await towhook('tow', 'show', ref);
  const { requested_at: utc } = z
    .object({ requested_at: z.string() })
    .parse((await towhook('tow', 'show', ref, '--json')).json());

  expect(utc).toMatch(/Z$/);
  expect(shown.out).toContain(` ${riyadhTime(utc)}`);
  expect(riyadhTime('2026-11-20T22:30:05.000Z')).toBe('2026-11-21 01:30:05');
});

test('towhook prints when a violation happened in Riyadh time, or as entered when the time has no offset', async () => {
  const shownFor = async (date: string) => {
    const { id } = violationIn(await report(app, { ...COMPLETE, date, metadata: '{}' }));
    return /^form date: +(.*)$/m.exec((await towhook('violation', 'show', id)).out)?.[1];
  };
  expect(await shownFor('2026-03-10T18:05:00Z')).toBe('2026-03-10 21:05:00');
  expect(await shownFor('2026-03-10T18:05:00')).toBe('2026-03-10T18:05:00');
});

test('towhook aligns the columns of a table that holds Arabic and Latin text', () => {
  const rows = table(
    ['plate', 'state'],
    [
      ['أ ب ح 1234', 'started'],
      ['A', 'x'],
    ],
  );
  expect(rows).toEqual(['PLATE       STATE', 'أ ب ح 1234  started', 'A           x']);
});

test('towhook tow list continues a list at --cursor and reads every page with --all', async () => {
  const refs = [await newTow(app), await newTow(app), await newTow(app)].toReversed();
  const page = z.object({
    items: z.array(z.object({ towing_reference_id: z.string() })),
    next_cursor: z.string().nullable(),
  });
  const refsIn = (result: ProgramRun) => page.parse(result.json()).items.map(({ towing_reference_id: ref }) => ref);

  const first = await towhook('tow', 'list', '--limit', '2', '--json');
  const cursor = page.parse(first.json()).next_cursor ?? '';
  const second = await towhook('tow', 'list', '--cursor', cursor, '--json');

  expect([refsIn(first), refsIn(second)]).toEqual([refs.slice(0, 2), refs.slice(2)]);
  expect(refsIn(await towhook('tow', 'list', '--all', '--json'))).toEqual(refs);
  expect((await towhook('tow', 'list', '--limit', '2')).out).toContain(`--cursor ${cursor}`);
});

test('towhook tow list filters by unsent reports, crew, assignment and age, and sorts by --order', async () => {
  const refs = [await newTow(app), await newTow(app), await newTow(app)];
  const [first = '', second = '', third = ''] = refs;
  await towhook('tow', 'assign', second, 'Crew 4');
  await record(app, third, 'started');
  const page = z.object({ items: z.array(z.object({ towing_reference_id: z.string() })) });
  const found = async (...words: readonly string[]) =>
    page.parse((await towhook('tow', 'list', ...words, '--json')).json()).items.map((tow) => tow.towing_reference_id);

  expect(await found('--order', 'oldest')).toEqual(refs);
  expect(await found('--unsent')).toEqual([third]);
  expect(await found('--crew', 'Crew 4')).toEqual([second]);
  expect(await found('--crew', '', '--state', 'requested')).toEqual([first]);
  expect(await found('--overdue')).toEqual([]);
  expect((await towhook('tow', 'list', '--order', 'sideways')).exitCode).toBe(EXIT.wrongUse);
});

test('towhook task list filters by --type and sorts by --order', async () => {
  const refs = [await newTow(app), await newTow(app)];
  for (const towing_reference_id of refs) {
    await deliver(app, 'tow_request', { violation_reference_id: 'V-other', towing_reference_id });
  }
  const page = z.object({ items: z.array(z.object({ id: z.string() })) });
  const found = async (...words: readonly string[]) =>
    page.parse((await towhook('task', 'list', ...words, '--json')).json()).items.map(({ id }) => id);
  const ids = refs.map((ref) => `rival_request.${ref}`);

  expect(await found('--order', 'oldest', '--type', 'rival_request')).toEqual(ids);
  expect(await found()).toEqual(ids.toReversed());
  expect(await found('--type', 'report_refused')).toEqual([]);
});

test('towhook key creates, rotates and revokes an API key without printing it in lists', async () => {
  const made = newApiKeyView.parse(
    (await towhook('key', 'create', '--name', 'yard', '--role', 'viewer', '--json')).json(),
  );
  const asYard = (key: string) => run(['queue', 'stats'], { url: app.consoleUrl, apiKey: key });
  expect((await asYard(made.api_key)).exitCode).toBe(0);
  expect((await towhook('key', 'list')).out).not.toContain(made.api_key);

  const rotated = newApiKeyView.parse((await towhook('key', 'rotate', made.id, '--grace-hours', '1', '--json')).json());
  expect((await asYard(made.api_key)).exitCode).toBe(0);
  expect((await asYard(rotated.api_key)).exitCode).toBe(0);

  expect((await towhook('key', 'revoke', made.id)).exitCode).toBe(0);
  expect((await asYard(rotated.api_key)).exitCode).toBe(4);
});

test.each(['create', 'rotate'])('a repeated towhook key %s says that the secret is not shown again', async (verb) => {
  const { id } = newApiKeyView.parse(
    (await towhook('key', 'create', '--name', 'gate', '--role', 'viewer', '--json')).json(),
  );
  const given = verb === 'create' ? ['--name', 'yard', '--role', 'viewer'] : [id];
  const call = ['key', verb, ...given, '--idempotency-key', 'once'];
  const { api_key, ...view } = newApiKeyView.parse((await towhook(...call, '--json')).json());

  const repeated = await towhook(...call);
  expect([repeated.exitCode, repeated.problems]).toEqual([0, '']);
  expect(repeated.out).toContain(`A secret is shown once. For a new secret: towhook key rotate ${view.id}`);
  expect(repeated.out).not.toContain(api_key);
  expect((await towhook(...call, '--json')).json()).toEqual(view);
});

test('towhook violation correct --clear empties optional fields, beside fields with new values', async () => {
  const { id } = violationIn(await report(app, COMPLETE));
  const correct = (line: string) => towhook('violation', 'correct', id, ...line.split(' '));
  const corrected = await correct('--location Elsewhere --clear full-name identity-number is-saudi --json');
  const { form } = violationView.parse(corrected.json());
  expect(form).toMatchObject({ location: 'Elsewhere', mobileNumber: COMPLETE.mobileNumber });
  for (const name of ['fullName', 'identityNumber', 'isSaudi']) expect(form).not.toHaveProperty(name);

  for (const line of ['--clear location', '--clear full-name --full-name Ali']) {
    const { exitCode, problems } = await correct(line);
    expect([line, exitCode, problems]).toEqual([line, EXIT.wrongUse, expect.stringContaining('--clear')]);
  }
});

test('towhook queue pause and queue resume change the state of a queue', async () => {
  const paused = async (verb: string) =>
    queueView.parse((await towhook('queue', verb, 'reports', '--json')).json()).paused;
  expect([await paused('pause'), await paused('resume')]).toEqual([true, false]);
});

test('towhook has the effect of a repeated --idempotency-key once', async () => {
  const ref = await newTow(app);
  const cancel = () =>
    towhook('tow', 'canceled', ref, '--cancellation-reason', 'gone', '--idempotency-key', 'mine-1', '--json');
  const [first, second] = [await cancel(), await cancel()];
  const third = await towhook('tow', 'canceled', ref, '--cancellation-reason', 'gone');

  expect([first.exitCode, second.exitCode, third.exitCode]).toEqual([0, 0, 1]);
  expect(second.json()).toEqual(first.json());
});

const shadowRows = z.array(z.object({ id: z.string(), operation: z.string(), images: z.string() }));

test('towhook shadow export prints a CSV file with one row for each held call', async () => {
  const refs = [await towAfter(app, 'started'), await towAfter(app, 'started')];
  for (const ref of refs) await changeInStore(app.foundation.redis, ref, withhold);

  const { out, exitCode } = await towhook('shadow', 'export');

  expect(exitCode).toBe(0);
  expect(shadowRows.parse(parse(out, { columns: true }))).toEqual(
    refs.map((id) => ({ id, operation: 'started', images: '' })),
  );
});
