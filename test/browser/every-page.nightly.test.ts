import { useBrowser } from '../support/browser';
import { everyAddress, expectSoundPages } from './every-page';
import { useConsole } from './world';

const browser = useBrowser();
const world = useConsole();

test.each([
  { language: 'en', viewport: 'desk', theme: 'light' },
  { language: 'en', viewport: 'phone', theme: 'dark' },
  { language: 'ar', viewport: 'desk', theme: 'dark' },
] as const)(
  'every page is accessible, fits the window and has unique ids in $language on a $viewport, $theme',
  async (look) => {
    const addresses = await everyAddress(world);
    const page = await browser.open(look);
    await world.signIn(page, 'ops');
    await expectSoundPages(page, world, addresses);
  },
);
