import { simulatorViolations } from '../../src/contracts/service/simulator';
import { useBrowser, waitForCount, waitForPath, waitForText } from '../support/browser';
import { startSlowLine } from '../support/slow-line';
import { fillReport } from './report-form';
import { useConsole } from './world';

/** 1 Mbit/s. */
const BYTES_PER_SECOND = 125_000;
const PHOTOS = 3;
const PHOTO_BYTES = 8_000_000;
const LIMIT_MS = 60_000;

const browser = useBrowser();
const world = useConsole(async (serviceUrl) => ({
  SERVICE_BASE_URL: await startSlowLine(serviceUrl, BYTES_PER_SECOND),
}));

/** Chooses photos of at least 8 MB: a noisy picture of 12 megapixels, as large as its quality makes it. */
const CHOOSE_PHOTOS = `(async () => {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [4032, 3024];
  const context = canvas.getContext('2d');
  const pixels = context.createImageData(canvas.width, canvas.height);
  const words = new Uint32Array(pixels.data.buffer);
  for (let at = 0, seed = 1; at < words.length; at += 1) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    words[at] = 0xff000000 | (seed >> 6);
  }
  context.putImageData(pixels, 0, 0);
  const encoded = (quality) => new Promise((resolve) => canvas.toBlob(resolve, 'image/jpeg', quality));
  let photo = null;
  for (let quality = 0.4; photo === null || photo.size < ${PHOTO_BYTES}; quality += 0.1) photo = await encoded(quality);
  const transfer = new DataTransfer();
  for (let nth = 1; nth <= ${PHOTOS}; nth += 1) {
    transfer.items.add(new File([photo, new Uint8Array(nth)], 'IMG_' + nth + '.jpeg', { type: 'image/jpeg' }));
  }
  const field = document.querySelector('#report-images');
  field.files = transfer.files;
  field.dispatchEvent(new Event('change', { bubbles: true }));
  return photo.size;
})()`;

test('three photos of 8 MB reach the service within a minute over two lines of 1 Mbit/s', async () => {
  const page = await browser.open({ viewport: 'phone' });
  await world.signIn(page, 'dispatcher', '/violations/new');
  await fillReport(page);
  const session = await page.context().newCDPSession(page);
  const rates = { downloadThroughput: BYTES_PER_SECOND, uploadThroughput: BYTES_PER_SECOND };
  await session.send('Network.emulateNetworkConditions', { offline: false, latency: 50, ...rates });

  expect(await page.evaluate(CHOOSE_PHOTOS)).toBeGreaterThanOrEqual(PHOTO_BYTES);
  const startedMs = Date.now();
  await page.locator('#report-form button[type=submit]').click();
  await waitForCount(page.locator('[data-previews] li').filter({ hasText: 'scaled down from' }), PHOTOS);
  await waitForText(page.locator('[data-upload-progress]'), /\d+.* % /);
  await waitForPath(page, /^\/violations\/[0-9a-f-]{36}$/);
  await page.locator('#violation h1 + .badge').filter({ hasText: 'Accepted' }).waitFor({ timeout: LIMIT_MS });
  const tookMs = Date.now() - startedMs;

  expect(tookMs).toBeLessThan(LIMIT_MS);
  const answer = await fetch(`${world.simulator.url}/simulator/violations`);
  const [violation] = simulatorViolations.parse(await answer.json()).items;
  expect(violation?.images.map(({ name }) => name)).toEqual(['IMG_1.jpg', 'IMG_2.jpg', 'IMG_3.jpg']);
  expect(await world.callsOf('violation')).toHaveLength(1);
});
