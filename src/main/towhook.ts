import { NoApiKey, progressBar, runCommandLine } from '../cli';
import { createClient } from '../client';
import { systemClock } from '../platform/clock';
import { ConfigurationError, loadCommandLineSettings } from '../platform/config';
import { isProblemTerminal, isTerminal, printLine, printProblem, untilPrinted } from '../platform/terminal';
import { examine } from './doctor';
import { ownVersion } from './own-version';

/** `towhook`: the command line, with what it needs of the inside. Its exit codes are told by `towhook --help`. */
async function main(): Promise<number> {
  return runCommandLine(process.argv.slice(2), {
    client: () => {
      const { url, apiKey } = loadCommandLineSettings();
      if (apiKey === null) throw new NoApiKey();
      return createClient({ baseUrl: url, apiKey });
    },
    screen: {
      line: printLine,
      problem: printProblem,
      wantsColor: wantsColor() && isTerminal(),
      progress: (what, total) => (isProblemTerminal() ? progressBar(what, total) : null),
    },
    clock: systemClock,
    version: ownVersion(),
    doctor: (options) => examine({ ...options, clock: systemClock }),
  });
}

/** A setting that is wrong is told by the command that needs it. */
function wantsColor(): boolean {
  try {
    return loadCommandLineSettings().wantsColor;
  } catch (error) {
    if (error instanceof ConfigurationError) return true;
    throw error;
  }
}

async function end(): Promise<void> {
  const exitCode = await main();
  // What `doctor` gave up waiting for may hang for ever.
  await untilPrinted();
  process.exit(exitCode);
}

void end();
