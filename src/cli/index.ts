import { Command, CommanderError } from 'commander';
import { addAudit } from './audit';
import { addDelivery } from './delivery';
import { addDoctor, type Doctor } from './doctor';
import { EXIT, EXIT_CODES_TEXT } from './exit-codes';
import { addKey } from './key';
import { addLookups } from './lookups';
import { addOperation } from './operation';
import { addQueue } from './queue';
import { addReport } from './report';
import { addTask } from './task';
import { addTow } from './tow';
import { examplesText, type Tools } from './verb';
import { addViolation } from './violation';

export type { Doctor, DoctorOptions, Finding } from './doctor';
export { NoApiKey } from './problems';
export { progressBar } from './progress';
export type { Screen } from './screen';

export interface CommandLineOptions extends Omit<Tools, 'endWith'> {
  readonly doctor: Doctor;
  /** Of this program, as `--version` prints it. */
  readonly version: string;
}

/** Runs one command line, without the program's own name; returns its exit code. Never rejects. */
export async function runCommandLine(words: readonly string[], options: CommandLineOptions): Promise<number> {
  let exitCode: number = EXIT.done;
  const tools: Tools = {
    ...options,
    endWith: (code) => {
      exitCode = code;
    },
  };
  const program = new Command('towhook');
  // Settings are inherited by the commands that are added after them.
  program
    .description(ABOUT)
    .version(options.version, '--version', 'print the version of this program')
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError('Add --help to see what the command takes.')
    .configureOutput({
      writeOut: (text) => options.screen.line(text.trimEnd()),
      writeErr: (text) => options.screen.problem(text.trimEnd()),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  addTow(program, tools);
  addViolation(program, tools);
  addLookups(program, tools);
  addReport(program, tools);
  addTask(program, tools);
  addDelivery(program, tools);
  addQueue(program, tools);
  addOperation(program, tools);
  addKey(program, tools);
  addAudit(program, tools);
  addDoctor(program, { tools, doctor: options.doctor });
  program.addHelpText('after', `\n${SETTINGS}\n\n${EXIT_CODES_TEXT}\n${examplesText(EXAMPLES)}`);
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    // Commander has said already what is wrong.
    const isAnswered = error instanceof CommanderError && error.exitCode === 0;
    exitCode = isAnswered ? EXIT.done : EXIT.wrongUse;
  }
  return exitCode;
}

const ABOUT = `towhook on the command line: everything the operator API can do.

Every command takes --json: one document on standard output, with times in UTC. Without it, text for people, with times of Riyadh. What goes wrong is told on standard error, with what to do next.`;

const SETTINGS = `Settings, from the environment (a key is never an argument):
  TOWHOOK_URL      the console; that of this machine when absent
  TOWHOOK_API_KEY  the key; BOOTSTRAP_API_KEY when absent
  NO_COLOR         no colours, whatever its value`;

const EXAMPLES = [
  'towhook tow list --state started',
  'towhook tow started TW-20261120-ABC123',
  'towhook task list --json',
  'towhook key create --name yard --role crew',
  'towhook doctor',
];
