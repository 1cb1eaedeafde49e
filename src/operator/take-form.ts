import type { IncomingMessage } from 'node:http';
import type { ApiForm, FormRoute } from '../workflow/operator-port';
import type { AnswerStore } from '../workflow/ports';
import { barred, checkCall, type Call, type Incoming } from './check-call';
import { changeOnce, type Change } from './idempotency';
import { askedBy, receiveForm, type FormTools, type ReceivedForm } from './receive-form';
import { refused, type Said } from './said';

type Fields = Readonly<Record<string, string>>;

/** Fields of a page's own that are no part of what is said to the API. */
export type OwnFields = Pick<ApiForm, 'ownFields' | 'admits' | 'idempotencyField'>;

/** A form on its way to a route, its body not yet read. */
export interface IncomingForm extends Pick<Incoming, 'actor' | 'params' | 'path' | 'idempotencyKey'> {
  readonly request: IncomingMessage;
  /** Null for a form that comes from a program: it has none, and an Idempotency-Key in its head. */
  readonly own: OwnFields | null;
}

/** What is said to a form, and what was entered in it as far as it was read. */
export interface SaidToForm {
  readonly said: Said | { readonly kind: 'gone' };
  readonly fields: Fields;
}

export interface FormHandling<R extends FormRoute> {
  readonly route: R;
  readonly handler: (call: Call<R>, form: ReceivedForm) => Change;
}

const NOT_OURS = refused(403, {
  code: 'form_not_ours',
  message: 'The form does not come from a page of whoever is signed in now. Load the page again.',
});

/** Takes a form in and makes the change it asks for. Nothing of the body is read before it is known who may send it. */
export async function takeForm<R extends FormRoute>(
  { route, handler }: FormHandling<R>,
  incoming: IncomingForm,
  tools: { answers: AnswerStore } & FormTools,
): Promise<SaidToForm> {
  const refusal = barred(route, incoming.actor);
  if (refusal) return { said: refusal, fields: {} };
  const { request, own } = incoming;
  const received = await receiveForm({ request, wantsFields: own !== null }, tools);
  if (received.kind !== 'received') {
    const { fields, isAdmitted } = withoutOwn(received.fields, own);
    // What a stranger entered is not shown again as if it had been entered on a page of ours.
    return { said: received, fields: isAdmitted ? fields : {} };
  }
  const { form } = received;
  try {
    const { fields, isAdmitted, idempotencyKey } = withoutOwn(form.fields, own);
    if (!isAdmitted) return { said: NOT_OURS, fields: {} };
    const call = checkCall(route, { ...incoming, query: {}, body: fields }, form.faults);
    if ('refusal' in call) return { said: call, fields };
    const asked = askedBy({ ...form, fields });
    const once = {
      method: route.method.toUpperCase(),
      path: incoming.path,
      idempotencyKey: own === null ? incoming.idempotencyKey : idempotencyKey,
      asked,
    };
    const change = { ...handler(call, { ...form, fields }), status: route.status, actsBeforeCommit: true };
    return { said: await changeOnce(once, tools.answers, change), fields };
  } finally {
    await form.upload.discard();
  }
}

/** A form without the fields that its page put in for itself, and what they say. */
function withoutOwn(all: Fields, own: OwnFields | null) {
  if (own === null) return { fields: all, isAdmitted: true, idempotencyKey: undefined };
  const isOwn = ([name]: readonly [string, string]) => own.ownFields.includes(name);
  const entries = Object.entries(all);
  const owned: Fields = Object.fromEntries(entries.filter(isOwn));
  return {
    fields: Object.fromEntries(entries.filter((entry) => !isOwn(entry))),
    isAdmitted: own.admits(owned),
    idempotencyKey: own.idempotencyField === undefined ? undefined : owned[own.idempotencyField],
  };
}
