import { useApp } from '../support/app';
import { useBrowser } from '../support/browser';

const browser = useBrowser();
const app = useApp({ role: 'console' });

test.each(['en', 'ar'] as const)('the description of the API is shown without a fault (%s)', async (language) => {
  const page = await browser.open({ language });
  await page.goto(`${app.consoleUrl}/docs`);
  await page.getByText('/api/tows', { exact: true }).first().waitFor();
});
