import type { TestBrowser } from '../support/browser';

/** A drawing of a car on a street, so that pictures of pictures show something. */
const STREET = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 420" width="640" height="420">
<rect width="640" height="420" fill="#bcd3dd"/><rect y="230" width="640" height="190" fill="#5b6468"/>
<rect x="20" y="60" width="150" height="170" fill="#a99b86"/><rect x="200" y="30" width="190" height="200" fill="#8f8474"/>
<rect x="430" y="80" width="180" height="150" fill="#b5a891"/><rect y="330" width="640" height="8" fill="#d9d2a6"/>
<path d="M110 300l40-70q8-14 24-14h220q18 0 30 14l54 58 70 14q24 6 24 30v16H96v-24q0-18 14-24z" fill="#b3372f"/>
<path d="M180 292l26-50h86v50zM308 242h84l44 50H308z" fill="#d8e7ee"/>
<circle cx="190" cy="350" r="36" fill="#22272a"/><circle cx="190" cy="350" r="16" fill="#9aa3a7"/>
<circle cx="470" cy="350" r="36" fill="#22272a"/><circle cx="470" cy="350" r="16" fill="#9aa3a7"/>
<rect x="540" y="316" width="44" height="16" rx="3" fill="#fff"/></svg>`;

/** The drawing as a PNG, taken by the browser itself. */
export async function pictureOfVehicle(browser: TestBrowser): Promise<Uint8Array<ArrayBuffer>> {
  const page = await browser.open();
  await page.setViewportSize({ width: 640, height: 420 });
  await page.setContent(`<body style="margin:0">${STREET}</body>`);
  const picture = await page.screenshot({ type: 'png' });
  await page.close();
  return new Uint8Array(picture);
}
