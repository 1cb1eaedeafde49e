import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KEYS } from '../../src/store/keys';
import { compiledFile } from '../support/compiled';
import { eventually } from '../support/eventually';
import { runProgram } from './command';
import { useInstallation } from './installation';

const installation = useInstallation();
const ROWS = 4000;

test('an import of 4,000 rows that is killed in the middle and started again adds every row once', async () => {
  const { app, environment, folder } = installation();
  const file = join(folder, 'many.csv');
  const rows = Array.from({ length: ROWS }, (_, at) => `V-${at},ABJ ${at % 10_000},Street ${at},24.69,46.68`);
  await writeFile(file, ['violation_reference_id,plateNumber,location,latitude,longitude', ...rows].join('\n'));
  const results = async () =>
    (await readFile(`${file}.results.csv`, 'utf8').catch(() => '')).split('\r\n').slice(1, -1);

  const first = spawn(process.execPath, [compiledFile('src/main/towhook.ts'), 'violation', 'import', file], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: 'ignore',
  });
  await eventually(async () => expect((await results()).length).toBeGreaterThan(500));
  first.kill('SIGKILL');
  await once(first, 'exit');
  expect((await results()).length).toBeLessThan(ROWS);

  const second = await runProgram(['violation', 'import', file, '--json'], { environment });

  expect(second).toMatchObject({ exitCode: 0 });
  const { redis } = app.foundation;
  expect(await redis.zcard(KEYS.indexViolations)).toBe(ROWS);
  expect(await redis.hlen(KEYS.violationReferences)).toBe(ROWS);
  const names = (await results()).map((line) => line.split('","').slice(0, 2).join(' '));
  expect(names).toEqual(rows.map((_, at) => `"${at + 1} V-${at}`));
});
