import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEnvironment } from '../../src/demo/environment';
import { printLine, printProblem } from '../../src/platform/terminal';
import { startBrowser } from '../support/browser';
import { photograph } from './camera';
import { writeGallery } from './gallery';
import { pagesOf } from './pages';
import { pictureOfVehicle } from './vehicle';
import { playScene } from './scene';
import { PROJECT } from '../support/project';

/**
 * `npm run screenshots [-- --only board,tow]`: plays a day on an embedded Redis against the bundled simulator, opens
 * every page of the console in both languages and both themes, and writes what it sees to docs/screenshots.
 */
const DOCS = join(PROJECT, 'docs');

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { only: { type: 'string' } } });
  const only = values.only?.split(',') ?? null;
  const stage = await startEnvironment();
  const browser = await startBrowser();
  try {
    const vehicle = await pictureOfVehicle(browser);
    const scene = await playScene(stage, vehicle);
    const count = await photograph({ browser, stage, scene, folder: join(DOCS, 'screenshots'), only, show: printLine });
    if (only === null) await writeGallery(DOCS, pagesOf(scene));
    const faults = await browser.leave();
    for (const fault of faults) printProblem(fault);
    printLine(`${count} pictures in docs/screenshots`);
    if (faults.length > 0) process.exitCode = 1;
  } finally {
    await browser.close();
    await stage.resources.closeAll();
  }
}

void main();
