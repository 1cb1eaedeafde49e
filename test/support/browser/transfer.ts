import type { Page } from 'playwright-core';
import { eventually } from '../eventually';

/** The bytes on the wire for a page: compressed bodies and headers. */
export interface Transfer {
  readonly bytes: number;
  readonly parts: readonly { readonly url: string; readonly bytes: number }[];
}

/** An event stream never ends, and the browser may request the icon of the tab (`Other`) at any time. */
const UNCOUNTED: readonly string[] = ['EventSource', 'Other'];

/**
 * Opens a URL with an empty cache and measures its first view: the document and all that it loads, until no request is
 * pending.
 */
export async function transferSize(page: Page, url: string): Promise<Transfer> {
  const session = await page.context().newCDPSession(page);
  const urls = new Map<string, string>();
  const awaited = new Set<string>();
  const parts: { url: string; bytes: number }[] = [];
  session.on('Network.requestWillBeSent', ({ requestId, request, type }) => {
    if (UNCOUNTED.includes(type ?? '') || !request.url.startsWith('http')) return;
    urls.set(requestId, request.url);
    awaited.add(requestId);
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (awaited.delete(requestId)) parts.push({ url: urls.get(requestId) ?? '', bytes: encodedDataLength });
  });
  session.on('Network.loadingFailed', ({ requestId }) => void awaited.delete(requestId));
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  await page.goto(url, { waitUntil: 'load' });
  await page.evaluate('document.fonts.ready.then(() => true)');
  await eventually(() => {
    if (awaited.size > 0) throw new Error(`still loading: ${[...awaited].map((id) => urls.get(id)).join(', ')}`);
  });
  await session.detach();
  return { bytes: parts.reduce((sum, part) => sum + part.bytes, 0), parts };
}
