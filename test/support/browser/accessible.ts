import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { z } from 'zod';

/** WCAG 2.2 A and AA, and what axe-core takes for good practice. */
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
 * Fails with every rule that a page breaks, where, and how to mend it. The checker is handed to the page by the
 * debugger, so that the page's Content-Security-Policy stays in force.
 */
export async function expectAccessible(page: Page): Promise<void> {
  const broken = await accessibilityFaults(page);
  if (broken.length > 0) throw new Error(`${page.url()} is not accessible:\n${broken.join('\n')}`);
}

/** The same as sentences; none where all is well. */
export async function accessibilityFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const options = JSON.stringify({ runOnly: { type: 'tag', values: TAGS }, resultTypes: ['violations'] });
  const { violations } = results.parse(await page.evaluate(`axe.run(document, ${options})`));
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => {
      const how = failureSummary.replaceAll(/\s*\n\s*/g, ' ');
      return `- ${id} (${help}) at ${target.map((part) => JSON.stringify(part)).join(' ')}: ${how}`;
    }),
  );
}
