import type { IncomingMessage } from 'node:http';
import type { ApiForm, FormRoute } from '../../workflow/operator-port';
import type { AnswerStore } from '../../workflow/ports';
import { checkCall, checkRole, type RouteCall, type UncheckedCall } from '../check-call';
import { changeOnce, type Change } from '../idempotency';
import { contentOf, receiveForm, type FormTools, type ReceivedForm } from './receive-form';
import { refusedResponse, type EndpointResponse } from '../responses';

type FormFields = Readonly<Record<string, string>>;

/** What the fields of a console page mean, and its hidden ones: session token and Idempotency-Key. */
export type PageFields = Pick<ApiForm, 'hiddenFields' | 'isGenuine' | 'refusalOf' | 'idempotencyField' | 'textOf'>;

/** A form whose body is not yet read. */
export interface UncheckedForm extends Pick<UncheckedCall, 'actor' | 'params' | 'path' | 'idempotencyKey'> {
  readonly request: IncomingMessage;
  /** Null for a form over HTTP: it has no hidden fields and sends its Idempotency-Key as a header. */
  readonly page: PageFields | null;
}

/** The response to a form, and the fields that were read, so that a page can show them again. */
export interface FormResponse {
  readonly response: EndpointResponse | { readonly kind: 'client_gone' };
  readonly fields: FormFields;
}

export interface FormHandling<R extends FormRoute> {
  readonly route: R;
  readonly handler: (call: RouteCall<R>, form: ReceivedForm) => Change;
}

const FORM_NOT_OURS = refusedResponse(403, {
  code: 'form_not_ours',
  message: 'The form does not belong to your session. Load the page again.',
});

/** Reads a form and makes its change. The role is checked before the body is read. */
export async function answerForm<R extends FormRoute>(
  { route, handler }: FormHandling<R>,
  unchecked: UncheckedForm,
  tools: { answers: AnswerStore } & FormTools,
): Promise<FormResponse> {
  const forbidden = checkRole(route, unchecked.actor);
  if (forbidden) return { response: forbidden, fields: {} };
  const { request, page } = unchecked;
  const received = await receiveForm({ request, needsFields: page !== null }, tools);
  if (received.kind !== 'received') {
    const { fields, isGenuine } = splitFields(received.fields, page);
    // The fields of a forged form are not shown to the person whose session it used.
    return { response: received, fields: isGenuine ? fields : {} };
  }
  const { form } = received;
  try {
    const { fields, hidden, isGenuine, idempotencyKey } = splitFields(form.fields, page);
    if (!isGenuine) return { response: FORM_NOT_OURS, fields: {} };
    const refusal = await page?.refusalOf?.(hidden);
    if (refusal) return { response: { kind: 'refused', refusal }, fields };
    const call = checkCall(route, { ...unchecked, query: {}, body: fields }, form.faults);
    if ('refusal' in call) return { response: call, fields };
    const changeRequest = {
      method: route.method.toUpperCase(),
      path: unchecked.path,
      idempotencyKey: page === null ? unchecked.idempotencyKey : idempotencyKey,
      content: contentOf({ ...form, fields }),
    };
    const change = { ...handler(call, { ...form, fields }), status: route.status, actsBeforeCommit: true };
    return { response: await changeOnce(changeRequest, tools.answers, change), fields };
  } finally {
    await form.upload.discard();
  }
}

/** Separates the fields of the API from the hidden fields of the page, and checks the hidden ones. */
function splitFields(all: FormFields, page: PageFields | null) {
  if (page === null) return { fields: all, hidden: {}, isGenuine: true, idempotencyKey: undefined };
  const isHidden = ([name]: readonly [string, string]) => page.hiddenFields.includes(name);
  const entries = Object.entries(all);
  const hidden: FormFields = Object.fromEntries(entries.filter(isHidden));
  return {
    fields: Object.fromEntries(
      entries.filter((entry) => !isHidden(entry)).map(([name, entered]) => [name, page.textOf(name, entered)]),
    ),
    hidden,
    isGenuine: page.isGenuine(hidden),
    idempotencyKey: hidden[page.idempotencyField],
  };
}
