import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import request from 'supertest';
import { towView } from '../../src/contracts/operator';
import { simulatorCalls } from '../../src/contracts/service/simulator';
import { page } from '../../src/contracts/paging';
import { violationView } from '../../src/contracts/violation/violations';
import { eventually } from '../support/eventually';
import { run } from './command';
import { useInstallation } from './installation';

const installation = useInstallation();

const violationsPage = page(violationView);

const HEADER = 'violation_reference_id,metadata_id,plateNumber,location,latitude,longitude,plateType';
const ROW = 'V-20261120-AAA111,case-1,ABJ 1234,"Olaya Street, gate 2",24.69,46.68,PRIVATE';

async function importing(name: string, lines: readonly string[]) {
  return importingBytes(name, Buffer.from(`${lines.join('\n')}\n`));
}

async function importingBytes(name: string, bytes: Buffer) {
  const { app, folder } = installation();
  const file = join(folder, name);
  await writeFile(file, bytes);
  const result = await run(['violation', 'import', file], { url: app.consoleUrl, apiKey: app.apiKey });
  const results = await readFile(`${file}.results.csv`, 'utf8').catch(() => '');
  return { result, rows: results.split('\r\n').slice(1, -1), file };
}

function get(path: string) {
  const { app } = installation();
  return request(app.consoleUrl).get(path).auth(app.apiKey, { type: 'bearer' });
}

/** Has the service request a tow; returns its reference. */
async function requestTow(body: object): Promise<string> {
  const { simulator } = installation();
  const answer: unknown = (await request(simulator.url).post('/simulator/tow-requests').send(body)).body;
  const ref = /"towing_reference_id":"([^"]+)"/.exec(JSON.stringify(answer))?.[1];
  if (ref === undefined) throw new Error('no tow was requested');
  return ref;
}

async function towWhenLinked(ref: string) {
  return eventually(async () => {
    const tow = towView.parse((await get(`/api/tows/${ref}`)).body);
    expect(tow.violation_id).not.toBeNull();
    return tow;
  });
}

test('an imported violation gives plate and place to tows requested before and after it, by reference or metadata id, and is never sent', async () => {
  const byId = await requestTow({ violation_reference_id: 'V-other', metadata: { id: 'case-2' } });
  await eventually(async () => expect((await get(`/api/tows/${byId}`)).status).toBe(200));

  const { result, rows } = await importing('two.csv', [HEADER, ROW, ',case-2,KLM 7,King Road,24.7,46.7,']);
  expect(result).toMatchObject({ exitCode: 0, out: '2 rows: 2 added, 0 known already, 0 invalid.' });
  expect(rows.map((row) => row.split(',').slice(0, 4).join(','))).toEqual([
    '"1","V-20261120-AAA111","case-1","created"',
    '"2","","case-2","created"',
  ]);

  expect(await towWhenLinked(byId)).toMatchObject({ plate_number: 'KLM 7', towed_location: 'King Road' });
  const after = await requestTow({ violation_reference_id: 'V-20261120-AAA111' });
  expect(await towWhenLinked(after)).toMatchObject({
    plate_number: 'ABJ 1234',
    towed_location: 'Olaya Street, gate 2',
    zone_id: null,
  });
  const { app, simulator } = installation();
  const started = request(app.consoleUrl).post(`/api/tows/${after}/started`).auth(app.apiKey, { type: 'bearer' });
  expect((await started.send({})).status).toBe(202);
  const violation = violationView.parse((await get('/api/violations/case-1')).body);
  expect(violation).toMatchObject({ state: 'accepted', accepted_how: 'known', attempts: 0 });
  const calls = simulatorCalls.parse((await request(simulator.url).get('/simulator/calls')).body).items;
  expect(calls.filter(({ operation }) => operation === 'violation')).toEqual([]);
});

test('the tow of an imported violation finds it by a metadata id with spaces around it, which is taken exactly', async () => {
  const { result } = await importing('spaces.csv', [HEADER, ',"  case 3 ",KLM 8,King Road,24.7,46.7,']);
  expect(result.exitCode).toBe(0);
  const ref = await requestTow({ violation_reference_id: 'V-spaces', metadata: { id: '  case 3 ' } });
  expect(await towWhenLinked(ref)).toMatchObject({ plate_number: 'KLM 8' });
});

test('rows that break a rule are named in the results and the others are added; a second start adds nothing', async () => {
  const lines = [
    HEADER,
    'V-B1,,ABJ 1,Street,24.69,46.68,PRIVATE',
    'V-B2,,ABJ 2,Street,north,46.68,TANK',
    ',,ABJ 3,Street,1,2,',
    'V-B1,,ABJ 1,Street,24.69,46.68,PRIVATE',
  ];
  const { result, rows } = await importing('mixed.csv', lines);

  expect(result).toMatchObject({ exitCode: 1, out: '4 rows: 1 added, 1 known already, 2 invalid.' });
  expect(rows.map((row) => row.split('","')[3])).toEqual(['created', 'invalid', 'invalid', 'already_known']);
  expect(rows[1]).toContain('latitude must be');
  expect(rows[1]).not.toContain('ABJ');
  expect(rows[2]).toContain('violation_reference_id is required, or metadata_id');

  const again = await importing('mixed.csv', [...lines, 'V-B3,,ABJ 3,Street,1,2,']);
  expect(again.result).toMatchObject({ exitCode: 1, out: '5 rows: 1 added, 2 known already, 2 invalid.' });
  expect(again.rows).toHaveLength(5);
});

test('an empty file, and a header without a required column, are refused before anything is sent', async () => {
  const wrong = await importing('header.csv', ['violation_reference_id,plateNumber', 'V-C1,ABJ 1']);
  expect(wrong.result.exitCode).toBe(2);
  expect(wrong.result.problems).toContain('has no column location, latitude, longitude in its first line');

  const empty = await importing('empty.csv', ['', '']);
  expect([empty.result.exitCode, empty.result.out]).toEqual([2, '']);
  expect(empty.result.problems).toContain('has no column plateNumber, location, latitude, longitude, violation_ref');
});

test('a short file that is not UTF-8 is refused and none of its rows are sent; one with a byte order mark is read', async () => {
  const row = (plate: Buffer) => Buffer.concat([Buffer.from('V-E1,,'), plate, Buffer.from(',Street,1,2,\n')]);
  const header = Buffer.from(`${HEADER}\n`);
  const arabicWindows = Buffer.from([0xc7, 0xc8, 0xcd]);
  const { result, rows, file } = await importingBytes('windows-1256.csv', Buffer.concat([header, row(arabicWindows)]));
  expect([result.exitCode, rows]).toEqual([2, []]);
  expect(result.problems).toContain(`${file} is not UTF-8 text after row 0`);

  const plate = 'ابح 1234';
  const marked = Buffer.concat([Buffer.from('\uFEFF'), header, row(Buffer.from(plate))]);
  expect((await importingBytes('marked.csv', marked)).result.out).toContain('1 rows: 1 added');
  const { items } = violationsPage.parse((await get('/api/violations?q=V-E1')).body);
  expect(items.map(({ form }) => form.plateNumber)).toEqual([plate]);
});

test('a file that does not exist is refused with the error of the system', async () => {
  const { app, folder } = installation();
  const file = join(folder, 'none.csv');
  const { exitCode, problems } = await run(['violation', 'import', file], { url: app.consoleUrl, apiKey: app.apiKey });
  expect(exitCode).toBe(2);
  expect(problems).toContain('cannot be read after row 0 (ENOENT)');
  expect(await readdir(folder)).not.toContain('none.csv.results.csv');
});

test('an import refuses --results that name another file, and leaves that file as it is', async () => {
  const { app, folder } = installation();
  const file = join(folder, 'reported.csv');
  await writeFile(file, `${HEADER}\nV-G1,,ABJ 1,Street,1,2,\n`);
  const importTo = (results: string) =>
    run(['violation', 'import', file, '--results', results], { url: app.consoleUrl, apiKey: app.apiKey });

  const other = join(folder, 'notes.txt');
  for (const text of ['one line without an end', 'a line\nand the beginning of the next']) {
    await writeFile(other, text);
    const { exitCode, problems } = await importTo(other);
    expect([exitCode, problems]).toEqual([2, expect.stringContaining(`${other} holds no results of an import`)]);
    expect(await readFile(other, 'utf8')).toBe(text);
  }
  const itself = await importTo(join(folder, '.', 'reported.csv'));
  expect(itself.exitCode).toBe(2);
  expect(itself.problems).toContain('--results must not be the file that is imported');
});

test('an import replaces results whose header a killed run left incomplete', async () => {
  const { folder } = installation();
  await writeFile(join(folder, 'killed.csv.results.csv'), '"row","violation_ref');
  const { result, rows } = await importing('killed.csv', [HEADER, 'V-H1,,ABJ 1,Street,1,2,']);
  expect([result.exitCode, rows.length]).toEqual([0, 1]);
});

test('rows with one id and other content are in conflict, also with a spreadsheet that shortened the ids, and exit with 1', async () => {
  const lines = [
    HEADER,
    ',1.23457E+11,ABJ 1,Street,1,2,',
    ',1.23457E+11,ABJ 2,Street,1,2,',
    ',1.23457E+11,ا ب ح ١,Street,1,2,',
    'V-I1,1.23457E+11,ABJ 1,Street,1,3,',
  ];
  const { result, rows } = await importing('shortened.csv', lines);

  expect(result).toMatchObject({ exitCode: 1 });
  expect(result.out).toBe(
    [
      '4 rows: 1 added, 1 known already, 0 invalid, 2 in conflict with another violation.',
      '4 rows have an id that a spreadsheet seems to have shortened; see the results.',
    ].join('\n'),
  );
  const hint = 'metadata_id looks like a number that a spreadsheet shortened: export the column as text';
  const another = 'the violation with this name has another';
  expect(rows.map((row) => [row.split('","')[3], row.split('","')[5]?.replace('"', '')])).toEqual([
    ['created', hint],
    ['conflict', `${another} plateNumber; ${hint}`],
    ['already_known', hint],
    ['conflict', `${another} violation_reference_id, longitude; ${hint}`],
  ]);
  const again = await importing('shortened.csv', [...lines, 'V-I2,,ABJ 1,Street,1,2,']);
  expect(again.result.exitCode).toBe(1);
  const { items } = violationsPage.parse((await get('/api/violations?q=1.23457E')).body);
  expect(items.map(({ form }) => form.plateNumber)).toEqual(['ABJ 1']);
});

test('an import names no ids as shortened that merely have an E', async () => {
  const { result } = await importing('letters.csv', [
    HEADER,
    ',CASE-1E5,ABJ 1,Street,1,2,',
    'V-E+1,12E5,ABJ 1,Street,1,2,',
  ]);
  expect(result).toMatchObject({ exitCode: 0, out: '2 rows: 2 added, 0 known already, 0 invalid.' });
});
