import { useApp } from '../support/app';
import { useBrowser } from '../support/browser';

const browser = useBrowser();
const app = useApp({ role: 'console', environment: { CONSOLE_OPEN_PATHS: 'docs' } });

test.each(['en', 'ar'] as const)('the API documentation page opens without browser errors in %s', async (language) => {
  const page = await browser.open({ language });
  await page.goto(`${app.consoleUrl}/docs`);
  await page.getByText('/api/tows', { exact: true }).first().waitFor();
});
