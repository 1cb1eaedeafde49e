import '../platform/process-defaults';
import type * as backupModule from '../backup';
import { NoApiKey, progressBar, runCommandLine } from '../cli';
import { createClient } from '../client';
import type * as archiveModule from '../commands/archive';
import type * as migrateModule from '../commands/migrate';
import type * as reencryptModule from '../commands/reencrypt';
import { systemClock } from '../platform/clock';
import { ConfigurationError, loadCommandLineSettings } from '../platform/config/config';
import {
  isProblemTerminal,
  isOutputTerminal,
  printLine,
  printProblem,
  untilPrinted,
  watchOutput,
} from '../platform/terminal';
import type * as doctorModule from '../doctor';
import { endProcess, projectVersion } from '../platform/process';

/** Each command loads what it alone needs: most of the start time is for commands that read Redis or the disk. */
declare const require: {
  (module: '../backup'): typeof backupModule;
  (module: '../commands/archive'): typeof archiveModule;
  (module: '../commands/migrate'): typeof migrateModule;
  (module: '../commands/reencrypt'): typeof reencryptModule;
  (module: '../doctor'): typeof doctorModule;
};

/** The `towhook` command line. `towhook --help` lists its exit codes. */
async function main(): Promise<number> {
  return runCommandLine(process.argv.slice(2), {
    client: () => {
      const { url, apiKey } = loadCommandLineSettings();
      if (apiKey === null) throw new NoApiKey();
      return createClient({ baseUrl: url, apiKey });
    },
    terminal: {
      print: printLine,
      printError: printProblem,
      untilPrinted,
      wantsColor: wantsColor() && isOutputTerminal(),
      progress: (what, total) => (isProblemTerminal() ? progressBar(what, total) : null),
    },
    clock: systemClock,
    version: projectVersion(),
    local: {
      readArchive: (filter, form) => require('../commands/archive').readArchivedRecords(filter, form),
      verifyArchive: (days) => require('../commands/archive').verifyArchivedRecords(days),
      verifyAudit: (noted) => require('../commands/archive').verifyStoredAudit(noted),
      migrate: (options) => require('../commands/migrate').migrateData(options),
      reencrypt: (options) => require('../commands/reencrypt').reencryptData(options),
    },
    doctor: (options) => require('../doctor').examine({ ...options, clock: systemClock }),
    backups: {
      take: (folder) => require('../backup').createBackups({ clock: systemClock }).take(folder),
      restore: (options) => require('../backup').createBackups({ clock: systemClock }).restore(options),
    },
  });
}

/** Each command reports the wrong settings that it needs itself. */
function wantsColor(): boolean {
  try {
    return loadCommandLineSettings().wantsColor;
  } catch (error) {
    if (error instanceof ConfigurationError) return true;
    throw error;
  }
}

async function end(): Promise<void> {
  watchOutput();
  const exitCode = await main();
  // A check of `doctor` that timed out may never end.
  await untilPrinted();
  await endProcess(exitCode, (problem) => printProblem(`The exit code is lost: ${problem}.`));
}

void end();
