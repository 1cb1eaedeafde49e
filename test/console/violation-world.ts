import type { AttemptResult } from '../../src/domain/outbox/attempt';
import { systemClock } from '../../src/platform/clock';
import { createViolationOutbox } from '../../src/store/outbox/outbox';
import type { App } from '../support/app';
import type { MultipartForm, PageResponse, Visitor } from './visitor';

/** Reads and submits the violation pages. No worker runs: tests supply the result of each call to the service. */

export const FORM_PATH = '/violations/new';

interface ReportSent extends MultipartForm {
  /** The page that holds the form; loaded first by default. */
  readonly page?: Pick<PageResponse, 'html'>;
}

/** Submits the form for a new violation with the token and key of its page. */
export async function sendReport(visitor: Visitor, { fields, page, ...sent }: ReportSent): Promise<PageResponse> {
  const { html } = page ?? (await visitor.get(FORM_PATH));
  return visitor.postMultipart(FORM_PATH, { ...sent, fields: { ...formKeys(html), ...fields } });
}

/** The token and key of the form for a new violation. */
export function formKeys(html: string): { form_token: string; form_key: string } {
  return { form_token: hiddenIn(html, 'form_token'), form_key: hiddenIn(html, 'form_key') };
}

/** The value of a hidden field in the form for a new violation. */
function hiddenIn(html: string, name: string): string {
  const form = html.slice(html.indexOf('id="report-form"'));
  return new RegExp(`name="${name}" value="([^"]*)"`).exec(form)?.[1] ?? '';
}

/** The opening tag of the control with this field name; empty if there is none. */
export function controlIn(html: string, name: string): string {
  return new RegExp(`<(?:input|select|textarea)[^>]* name="${name}"[^>]*>`).exec(html)?.[0] ?? '';
}

/** The initial value of a field. */
export function valueIn(html: string, name: string): string {
  const control = controlIn(html, name);
  const rest = html.slice(html.indexOf(control) + control.length);
  if (control.startsWith('<textarea')) return rest.slice(0, rest.indexOf('</textarea>'));
  if (control.startsWith('<select')) {
    const options = rest.slice(0, rest.indexOf('</select>'));
    return /<option value="([^"]*)" selected/.exec(options)?.[1] ?? '';
  }
  return / value="([^"]*)"/.exec(control)?.[1] ?? '';
}

/** Claims a violation as a worker does and acknowledges it with this result. */
export async function sendAs(
  { foundation }: Pick<App, 'foundation'>,
  id: string,
  result: AttemptResult,
): Promise<void> {
  const outbox = createViolationOutbox(foundation.redis, systemClock, {
    leaseMs: 5000,
    graceMs: 60_000,
    giveUpAfterMs: 3_600_000,
    rateLimit: { limit: 0, windowMs: 60_000 },
    checksTicket: false,
  });
  const claim = await outbox.claim(id);
  if (claim.kind !== 'send') throw new Error(`expected to send, but: ${claim.kind}`);
  await outbox.settle(claim, result);
}
