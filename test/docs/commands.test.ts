import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { PROCESS_ROLES } from '../../src/main/roles';
import { run } from '../cli/command';
import { useInstallation } from '../cli/installation';
import { commandsIn, readDocuments } from '../architecture/documents';
import { deliver, towRequest } from '../receiver/calls';
import { eventually } from '../support/eventually';
import { PNG } from '../support/images';
import { isHelpOf, namedCommands, OTHER_PROGRAMS } from './named-commands';
import { PROJECT } from '../support/project';

const TOW = 'TW-20261120-ABC123';
const installation = useInstallation();
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')));

/** Containers are needed for these pages; test/docker/go-live.nightly.test.ts executes the commands of the first. */
const WITH_CONTAINERS = ['docs/operations/go-live.md', 'docs/operations/containers.md'];

/** The commands of all other documents, `a && b` taken apart, without settings before them and `&` behind. */
const COMMANDS = readDocuments()
  .filter(({ path }) => !WITH_CONTAINERS.includes(path))
  .flatMap((document) =>
    [...commandsIn(document), ...commandsInLists(document)]
      .flatMap((line) => line.split(' && '))
      .map((line) => line.replace(/^(?:[A-Z_]+=\S+ )+/, '').replace(/ &$/, ''))
      .map((line) => ({ path: document.path, line, words: wordsOf(line) })),
  );
/** The commands of the lists of docs/cli.md. */
function commandsInLists({ text }: Pick<ReturnType<typeof readDocuments>[number], 'text'>): string[] {
  return [...text.matchAll(/^- `(towhook [^`]+)`:/gm)].map(
    ([, command = '']) => `npx ${command.replaceAll(/\s+/g, ' ')}`,
  );
}

const beginningWith = (...start: readonly string[]) =>
  COMMANDS.filter(({ words }) => start.every((word, index) => words[index] === word));

/** The words of a shell command: quotes are removed, nothing is expanded. */
function wordsOf(line: string): string[] {
  const parts = [...line.matchAll(/(?:[^\s'"]|'[^']*'|"(?:[^"\\]|\\.)*")+/g)].map(([part]) => part);
  return parts.map((part) =>
    part.replaceAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''),
  );
}

beforeAll(async () => {
  const { app, folder } = installation();
  for (const name of ['front.jpg', 'left.jpg', 'back.jpg']) await writeFile(join(folder, name), PNG);
  const rows = 'metadata_id,plateNumber,location,latitude,longitude\ncase-78,KLM 7,King Fahd Road 12,24.71,46.67\n';
  await writeFile(join(folder, 'reported.csv'), rows);
  await deliver(app.receiverUrl, '/tow-request', towRequest({ towing_reference_id: TOW })).expect(200);
  await eventually(async () => {
    const { exitCode } = await run(['tow', 'show', TOW], { url: app.consoleUrl, apiKey: app.apiKey });
    if (exitCode !== 0) throw new Error('the tow is not there yet');
  });
});

test('the documentation uses only programs that these tests know', () => {
  const known = ['npm', 'npx towhook', 'npx jest', 'curl', 'export', 'openssl'];
  const unknown = COMMANDS.filter(({ line }) => !known.some((program) => line.startsWith(`${program} `)));
  const rule = `a command in a document begins with one of: ${known.join(', ')}`;
  expect(unknown.map(({ path, line }) => `${path}: ${line}: ${rule}`)).toEqual([]);
  expect(COMMANDS.length).toBeGreaterThan(80);
});

test('every towhook command of the documentation works on a running installation', async () => {
  const { app, folder } = installation();
  const before = process.cwd();
  process.chdir(folder);
  const wrong: string[] = [];
  try {
    for (const { path, line, words } of beginningWith('npx', 'towhook')) {
      // A lone ellipsis is a placeholder for further options.
      if (words.includes('…') || OTHER_PROGRAMS.includes(words[2] ?? '')) continue;
      const { exitCode, problems } = await run(words.slice(2), { url: app.consoleUrl, apiKey: app.apiKey });
      // 1: an id that does not exist here, or a state that does not allow it now. All others are faults of the page.
      if (exitCode !== 0 && exitCode !== 1) wrong.push(`${path}: ${line}: ${exitCode} ${problems}`);
    }
  } finally {
    process.chdir(before);
  }
  expect(wrong).toEqual([]);
});

test('every command that a document, the console or an alert names exists', async () => {
  const commands = namedCommands();
  expect(commands.length).toBeGreaterThan(60);
  const absent: string[] = [];
  for (const command of commands) {
    const { out } = await run([...command.words, '--help'], { url: 'http://127.0.0.1', apiKey: null });
    if (!isHelpOf(command, out)) absent.push(`${command.path}: towhook ${command.words.join(' ')}`);
  }
  expect(absent).toEqual([]);
});

test.each(beginningWith('curl'))('the call of the documentation is accepted: $line', async ({ words }) => {
  const response = await callOf(words);
  // 409: the tow has started already.
  expect([200, 201, 202, 204, 409]).toContain(response.status);
});

/** Options of curl that wait for a server; the one of the test listens already. The number counts their words. */
const WAITING_OPTIONS: Readonly<Record<string, number>> = { '--retry': 2, '--retry-connrefused': 1 };

/** Makes the call of a curl command, at the addresses and with the key of the test. */
function callOf(words: readonly string[]): Promise<Response> {
  const { app, simulator } = installation();
  const headers = new Headers();
  let form: FormData | null = null;
  let body: string | null = null;
  let method: string | null = null;
  let url = '';
  for (let index = 1; index < words.length; index += 1) {
    const [word = '', value = ''] = words.slice(index, index + 2);
    const skipped = WAITING_OPTIONS[word];
    if (skipped !== undefined) {
      index += skipped - 1;
      continue;
    }
    if (!/^-[XHdF]$/.test(word)) {
      url = word;
      continue;
    }
    index += 1;
    if (word === '-X') method = value;
    if (word === '-H')
      headers.set(value.split(': ')[0] ?? '', (value.split(': ')[1] ?? '').replace('$KEY', app.apiKey));
    if (word === '-d') body = value;
    if (word === '-F') {
      form ??= new FormData();
      const [name = '', text = ''] = value.split('=');
      if (text.startsWith('@')) form.append(name, new Blob([PNG]), text.slice(1));
      else form.append(name, text);
    }
  }
  const address = url.replace('localhost:3001', app.consoleUrl).replace('127.0.0.1:3002', simulator.url);
  return fetch(address, { method: method ?? ((body ?? form) ? 'POST' : 'GET'), headers, body: body ?? form });
}

test('a call of the documentation right after the start of the simulator waits until it listens', () => {
  const calls = beginningWith('curl').filter(({ line }) => line.includes('/simulator/tow-requests'));
  const pages = readDocuments().filter((document) => commandsIn(document).includes('npm start -- simulator &'));
  expect(pages.length).toBeGreaterThan(0);
  for (const { path } of pages) {
    const [first] = calls.filter((call) => call.path === path);
    expect([path, first?.words]).toEqual([path, expect.arrayContaining(['--retry', '--retry-connrefused'])]);
  }
});

test.each(beginningWith('npm').filter(({ words }) => words[1] !== 'ci'))(
  'the script of the documentation exists: $line',
  ({ words: [, command = '', script = ''] }) => {
    expect(Object.keys(scripts)).toContain(command === 'run' ? script : command);
  },
);

const STARTS = [...beginningWith('npm', 'start'), ...beginningWith('npx', 'towhook', 'start')];

test.each(STARTS)('the role of the documentation exists: $line', ({ words }) => {
  expect(PROCESS_ROLES).toContain(words.at(-1));
});

test.each(beginningWith('npx', 'jest'))('the tests of the documentation exist: $line', ({ words }) => {
  expect(existsSync(join(PROJECT, words[2] ?? ''))).toBe(true);
});
