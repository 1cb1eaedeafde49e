import { towView } from '../../src/contracts/operator';
import { api, towIn, towPath } from '../operator/client';
import { newTow, record } from '../operator/world';
import { useApp } from '../support/app';
import { run, type ProgramRun } from './command';

const app = useApp({ role: 'console' });

const towhook = (...words: readonly string[]) => run(words, { url: app.consoleUrl, apiKey: app.apiKey });

/** Sets the title of a terminal, clears it, begins a sequence in one character, turns the text around, erases. */
const NOTE = 'seen\u001b]0;title\u0007\u001b[2J\u009b31m\u202etxet\u007f\nsecond line';
const SHOWN = String.raw`seen\u001b]0;title\u0007\u001b[2J\u009b31m\u202etxet\u007f\nsecond line`;
const HARMFUL = /[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/u;

const printed = ({ out, problems }: ProgramRun) => `${out}\n${problems}`;

async function towWithNote(): Promise<string> {
  const ref = await newTow(app);
  await record(app, ref, 'started');
  towIn(await api(app).post(towPath(ref, '/notes')).send({ text: NOTE }));
  return ref;
}

describe('command line: control characters from the server', () => {
  test('shows the control characters of a note as escapes, on one line', async () => {
    const result = await towhook('tow', 'show', await towWithNote());
    expect(result.exitCode).toBe(0);
    expect(printed(result)).not.toMatch(HARMFUL);
    expect(result.out).toContain(SHOWN);
  });

  test('prints JSON without control characters that has the note as it is', async () => {
    const result = await towhook('tow', 'show', await towWithNote(), '--json');
    expect(printed(result)).not.toMatch(HARMFUL);
    const { notes } = towView.parse(result.json()).dispatch;
    expect(notes.map(({ text }) => text)).toEqual([NOTE]);
  });

  test('shows those of a refusal as escapes', async () => {
    const result = await towhook('tow', 'show', 'TW-\u001b[2J\u009b31m');
    expect(result.exitCode).not.toBe(0);
    expect(printed(result)).not.toMatch(HARMFUL);
  });

  test.each([[[]], [['--json']]])('shows those of a finding of the doctor as escapes: %j', async (more) => {
    const finding = { check: 'service', state: 'fault', code: 'refused', what: NOTE, fix: NOTE } as const;
    const doctor = () => Promise.resolve([finding]);
    const result = await run(['doctor', ...more], { url: app.consoleUrl, apiKey: app.apiKey, doctor });
    expect(printed(result)).not.toMatch(HARMFUL);
    expect(result.out).toContain(SHOWN);
  });
});
