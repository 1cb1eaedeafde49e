import { transferSize, useBrowser, waitForCount } from '../support/browser';
import { useConsole } from './world';

const browser = useBrowser();
const world = useConsole();

test('the first view of a board with 50 tows transfers less than 100 KB in English and in Arabic', async () => {
  const refs = await world.orderTows(50);
  await Promise.all(
    refs.map(async (ref, at) => {
      await world.call('POST', `/tows/${ref}/assignment`, { crew: `Crew ${at % 7}`, truck: `T-${at}` });
      for (const event of ['started', 'detained']) await world.record(ref, event);
      await world.record(ref, 'invoice', { vehicle_type: 'HEAVY' });
    }),
  );
  // A tow that still changes would make the board load its rows again during the measurement.
  for (const ref of refs) {
    await world.towWhen(
      ref,
      ({ reports, invoices }) => invoices.length > 1 && reports.every(({ state }) => state === 'accepted'),
    );
  }
  const sizes: Record<string, number> = {};
  for (const language of ['en', 'ar'] as const) {
    const page = await browser.open({ language });
    await world.signIn(page, 'dispatcher', '/lookups');
    sizes[language] = (await transferSize(page, world.at('/board'))).bytes;
    await waitForCount(page.locator('.tow-row'), 50);
  }
  for (const bytes of Object.values(sizes)) expect(bytes).toBeLessThan(100_000);
});
