import { FACT_CONTRACTS, fieldsOfKind } from '../../../contracts/tow/facts';
import { ROUTES } from '../../../contracts/operator-routes';
import { FACTS } from '../../../domain/tow/facts';
import { FACT_EVENTS, type FactEvent } from '../../../domain/vocabulary';
import { sha256Hex } from '../../../platform/hash';
import { CHANGED_MEANWHILE, submit } from '../../api-calls';
import { bodyOf, type EntryRules } from '../../forms';
import type { FormFailure, Pages, PostedForm, PageTools } from '../../page';
import { readTow, readTowView, type TowPageTools } from './model';
import { towPath } from '../../page-table';
import { formOfFact, questionOfFact } from './fact-fields';
import { handoverNote } from './notes';

/** Records facts. */
export function serveFacts(pages: Pages, tools: TowPageTools): void {
  for (const event of FACT_EVENTS) {
    pages.post(`/tows/:ref/${event}`, FACTS[event].role, async (posted) => {
      const ref = posted.params('ref');
      const result = await submit(tools.api, posted, {
        route: ROUTES[event],
        params: { towing_reference_id: ref },
        body: await factBody(tools, posted, event),
        question: () => questionNow(tools, posted, event),
        overtaken: CHANGED_MEANWHILE,
        form: formOfFact(event),
        next: towPath(ref),
        done: 'recorded',
        again: (failure) => tools.show(posted, forForm(event, failure)),
      });
      const isRecorded = result.kind === 'redirect';
      const failure = isRecorded && event === 'released' ? await addHandoverNote(tools, posted) : null;
      return failure ? tools.show(posted, failure) : result;
    });
  }
}

/** The current question of the form; null if the API has its own reason to refuse the fact. */
async function questionNow(tools: TowPageTools, posted: PostedForm, event: FactEvent): Promise<string | null> {
  const model = await readTow(tools, posted);
  const fact = model?.allowed.find((each) => each.event === event);
  return fact ? questionOfFact(fact) : null;
}

/** The refusal of a fact as its page shows it. */
function forForm(event: FactEvent, failure: FormFailure): FormFailure {
  const { refusal, entered } = failure;
  // The page has checked the role, so it is the state that now asks for a higher one.
  const isTooLate = event === 'canceled' && refusal.code === 'role_not_allowed';
  // A form that was sent twice is accepted twice, so this one is another, and its entries may differ from the record.
  const isAnother = refusal.code === 'already_recorded' && Object.keys(bodyOf(entered, entryRules(event))).length > 0;
  if (isTooLate || isAnother) return { ...failure, refusal: CHANGED_MEANWHILE };
  return event === 'canceled' ? atReasonText(failure) : failure;
}

/** A chosen reason is valid, so what the API refuses about it is the text beside it. */
function atReasonText(failure: FormFailure): FormFailure {
  if ((failure.entered.get('cancellation_reason') ?? '') === '') return failure;
  const details = failure.refusal.details.map(({ field, rule }) => ({
    field: field === 'cancellation_reason' ? 'cancellation_more' : field,
    rule,
  }));
  return { ...failure, refusal: { ...failure.refusal, details } };
}

/** The fields of a form that go to the API. */
function entryRules(event: FactEvent): EntryRules {
  const { body } = FACT_CONTRACTS[event];
  return {
    only: Object.keys(body.shape),
    numbers: fieldsOfKind(body, 'number'),
    timestamps: fieldsOfKind(body, 'timestamp'),
  };
}

async function factBody(tools: TowPageTools, posted: PostedForm, event: FactEvent) {
  const { form } = posted;
  const body = bodyOf(form, entryRules(event));
  const occurredAt = body['occurred_at'];
  if (event === 'canceled') Object.assign(body, { cancellation_reason: cancellationReason(form) });
  if (typeof occurredAt === 'string') {
    const tow = await readTowView(tools, posted);
    body['occurred_at'] = withinItsMinute(
      occurredAt,
      tow?.facts.findLast((fact) => fact.event !== 'invoice')?.occurred_at ?? null,
    );
  }
  return body;
}

/** The chosen reason and the text beside it, as one text; undefined if no reason is chosen. */
function cancellationReason(form: URLSearchParams): string | undefined {
  const chosen = form.get('cancellation_reason') ?? '';
  const more = (form.get('cancellation_more') ?? '').trim();
  // Without a chosen reason the field counts as empty.
  const parts = [chosen === 'other' ? '' : chosen, more].filter((part) => part !== '');
  return chosen === '' || parts.length === 0 ? undefined : parts.join(': ');
}

/** Raises an entered minute to the time of the previous fact if both are in the same minute. */
function withinItsMinute(entered: string, before: string | null): string {
  if (before === null) return entered;
  const [enteredMs, beforeMs] = [Date.parse(entered), Date.parse(before)];
  const isSameMinute = Math.floor(enteredMs / 60_000) === Math.floor(beforeMs / 60_000);
  return isSameMinute && enteredMs < beforeMs ? before : entered;
}

/**
 * Adds a note on who took the vehicle, in the language of its writer, after the release: a release that is refused must
 * leave no note. Returns the failure of the note, for the form of notes; null if it was added or nothing was entered.
 */
async function addHandoverNote(
  { api }: Pick<PageTools, 'api'>,
  { viewer, actor, form, params, idempotencyKey }: PostedForm,
): Promise<FormFailure | null> {
  const [name, identity] = [entered(form, 'handed_to'), entered(form, 'handed_id')];
  if (name === '' && identity === '') return null;
  const text = handoverNote(viewer.messages, name, identity);
  const answer = await api.call(ROUTES.addNote, {
    actor,
    params: { towing_reference_id: params('ref') },
    body: { text },
    ...(idempotencyKey === '' ? {} : { idempotencyKey: `handover-${sha256Hex(idempotencyKey)}` }),
  });
  if (answer.ok) return null;
  // 409, because the page shows it at the top: the form of the release is gone.
  const refusal = { ...answer.refusal, httpStatus: 409, code: 'released_without_note', message: WITHOUT_NOTE };
  return { form: 'note', refusal, entered: new URLSearchParams({ text }) };
}

const WITHOUT_NOTE = 'The release is recorded. The note on who took the vehicle is not.';

function entered(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').trim();
}
