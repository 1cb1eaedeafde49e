import { Command, CommanderError } from 'commander';
import { addApi } from './api';
import { addBackup, type Backups } from './backup';
import { addDoctor, type Doctor } from './doctor';
import { addFirstDay } from './doctor';
import { EXIT, EXIT_CODES_TEXT, OutputFailed, printCommandProblem, problemOf } from './problems';
import { addLocalCommands, type LocalCommands } from './local';
import { examplesText, type CommandTools } from './command';
import { addRouteCommands } from './route-commands';
import { addViolationImport } from './violation-import';

export type { Backups, RestoreOptions, RestoreResult, TakenBackup, VerificationNote } from './backup';
export type { CommandOutput } from './command';
export type { Doctor, DoctorOptions } from './doctor';
export { notesOf, sumOfFindings, type Finding, type Notes } from './finding';
export type { LocalCommands } from './local';
export { BackupProblem, NoApiKey } from './problems';
export { printableJson, progressBar } from './terminal';
export type { Terminal } from './terminal';

export interface CommandLineOptions extends Omit<CommandTools, 'setExitCode'> {
  readonly doctor: Doctor;
  readonly local: LocalCommands;
  readonly backups: Backups;
  /** The text of `--version`. */
  readonly version: string;
}

/** Runs a command line, given without the program name. Returns the exit code; never rejects. */
export async function runCommandLine(words: readonly string[], options: CommandLineOptions): Promise<number> {
  let exitCode: number = EXIT.done;
  const tools: CommandTools = {
    ...options,
    setExitCode: (code) => {
      exitCode = code;
    },
  };
  const program = new Command('towhook');
  // Commands inherit the settings of the program that are made before they are added.
  program
    .description(ABOUT)
    .version(options.version, '--version', 'print the version of this program')
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError('Add --help to see what the command takes.')
    .configureOutput({
      writeOut: (text) => options.terminal.print(text.trimEnd()),
      writeErr: (text) => options.terminal.printError(text.trimEnd()),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  addRouteCommands(program, tools, words);
  addViolationImport(program, tools);
  addApi(program, tools);
  addDoctor(program, { tools, doctor: options.doctor });
  addFirstDay(program, { tools, doctor: options.doctor });
  addLocalCommands(program, { tools, local: options.local });
  addBackup(program, { tools, backups: options.backups });
  program.addHelpText('after', `\n${SETTINGS}\n\n${EXIT_CODES_TEXT}\n${examplesText(EXAMPLES)}`);
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    // Commander has already printed the error.
    const isAnswered = error instanceof CommanderError && error.exitCode === 0;
    const failure = isAnswered ? await options.terminal.untilPrinted() : null;
    if (failure !== null) {
      printCommandProblem(problemOf(new OutputFailed(failure), null), { terminal: options.terminal, isJson: false });
    }
    exitCode = failure !== null ? EXIT.notPrinted : isAnswered ? EXIT.done : EXIT.wrongUse;
  }
  return exitCode;
}

const ABOUT = `The command line of towhook: everything the operator API can do. Two more programs begin like commands: 'towhook demo' plays tows against a simulated service, and 'towhook start <role>' starts a role.

With --json a command prints one JSON document, with times in UTC. Without it, text with times in Riyadh. Errors go to standard error, with what to do next.`;

const SETTINGS = `Environment variables (an API key is never an argument):
  TOWHOOK_URL      address of the console; default: the console of this machine
  TOWHOOK_API_KEY  API key; default: BOOTSTRAP_API_KEY
  NO_COLOR         any value turns colours off`;

const EXAMPLES = [
  'towhook tow list --state started',
  'towhook tow started TW-20261120-ABC123',
  'towhook task list --json',
  'towhook key create --name yard --role crew',
  'towhook doctor',
];
