import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { z } from 'zod';

/** Half the size of the source that the package exports, so it is sent and parsed in less time. */
const AXE_SOURCE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
/** WCAG 2.2 A and AA, and the best practices of axe-core. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

const results = z.object({
  violations: z.array(
    z.object({
      id: z.string(),
      help: z.string(),
      nodes: z.array(z.object({ target: z.array(z.unknown()), failureSummary: z.string().optional() })),
    }),
  ),
});

/**
 * Fails with every rule that the page breaks, the elements, and how to fix them. axe-core is sent to the page by the
 * debugger protocol, so the Content-Security-Policy of the page stays in force.
 */
export async function expectAccessible(page: Page): Promise<void> {
  const broken = await accessibilityFaults(page);
  if (broken.length > 0) throw new Error(`${page.url()} is not accessible:\n${broken.join('\n')}`);
}

/** Returns one sentence per accessibility fault of the page. */
export async function accessibilityFaults(page: Page): Promise<readonly string[]> {
  // The source is sent once per document: a page that refreshes its parts by script stays the same document.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(AXE_SOURCE);
  const options = JSON.stringify({ runOnly: { type: 'tag', values: TAGS }, resultTypes: ['violations'] });
  const { violations } = results.parse(await page.evaluate(`axe.run(document, ${options})`));
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => {
      const how = failureSummary.replaceAll(/\s*\n\s*/g, ' ');
      return `- ${id} (${help}) at ${target.map((part) => JSON.stringify(part)).join(' ')}: ${how}`;
    }),
  );
}
