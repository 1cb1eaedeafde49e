import type { ViolationResult } from '../../src/workflow/violation-port';
import { systemClock } from '../../src/platform/clock';
import { createViolationOutbox } from '../../src/store/violation-outbox';
import { formOf, type FormFile } from '../operator/forms';
import type { App } from '../support/app';
import type { Shown, Visitor } from './visitor';

/** The pages of violations as people use them. No worker runs: what the service says is played. */

type Process = Pick<App, 'consoleUrl' | 'foundation'>;

export const FORM_PATH = '/violations/new';

/** A form as a browser sends it: with the token and the key of the page that was looked at. */
export async function sendReport(
  app: Process,
  visitor: Visitor,
  { fields, files = [], page, headers = {} }: ReportSent,
): Promise<Shown> {
  const { html } = page ?? (await visitor.get(FORM_PATH));
  const own = { form_token: hiddenIn(html, 'form_token'), form_key: hiddenIn(html, 'form_key') };
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await fetch(`${app.consoleUrl}${FORM_PATH}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, accept: 'text/html', ...headers },
    body: formOf({ ...own, ...fields }, files),
  });
  return {
    status: response.status,
    html: await response.text(),
    headers: response.headers,
    location: response.headers.get('location'),
  };
}

interface ReportSent {
  readonly fields: Readonly<Record<string, string>>;
  readonly files?: readonly FormFile[];
  /** The page whose form it is; the form is looked at first when left out. */
  readonly page?: Pick<Shown, 'html'>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The value of a hidden field of the form for reports. */
function hiddenIn(html: string, name: string): string {
  const form = html.slice(html.indexOf('id="report-form"'));
  return new RegExp(`name="${name}" value="([^"]*)"`).exec(form)?.[1] ?? '';
}

/** The control of a form by the name of its field: its tag with all that it says. */
export function controlIn(html: string, name: string): string {
  return new RegExp(`<(?:input|select|textarea)[^>]* name="${name}"[^>]*>`).exec(html)?.[0] ?? '';
}

/** What a field holds when its page is shown. */
export function valueIn(html: string, name: string): string {
  const control = controlIn(html, name);
  const behind = html.slice(html.indexOf(control) + control.length);
  if (control.startsWith('<textarea')) return behind.slice(0, behind.indexOf('</textarea>'));
  if (control.startsWith('<select')) {
    const options = behind.slice(0, behind.indexOf('</select>'));
    return /<option value="([^"]*)" selected/.exec(options)?.[1] ?? '';
  }
  return / value="([^"]*)"/.exec(control)?.[1] ?? '';
}

/** Sends a violation as a worker does; what comes of it is what the test says. */
export async function sendAs({ foundation }: Process, id: string, result: ViolationResult): Promise<void> {
  const outbox = createViolationOutbox(foundation.redis, systemClock, {
    leaseMs: 5000,
    proofMs: 60_000,
    giveUpAfterMs: 3_600_000,
    violationBudget: { limit: 0, windowMs: 60_000 },
    checksTicket: false,
  });
  const claim = await outbox.claim(id);
  if (claim.kind !== 'send') throw new Error(`expected to send, but: ${claim.kind}`);
  await outbox.ack(claim, result);
}
