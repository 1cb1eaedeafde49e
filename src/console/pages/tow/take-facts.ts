import { ROUTES } from '../../../contracts/operator-routes';
import { FACT_ROLES } from '../../../domain/fact-command';
import { previousMoment } from '../../../domain/tow';
import { FACT_EVENTS, type FactEvent } from '../../../domain/vocabulary';
import { carryOut } from '../../carry-out';
import { bodyOf, type EntryRules } from '../../entries';
import type { Pages, Posted } from '../../serve';
import type { TowTools } from './index';
import { formOfFact } from './fact-field';
import { towPath } from './model';
import { noteHandover } from './take-handover';

/** Which entries of a form go to the API, and as what. */
const ENTRIES = {
  started: {
    only: ['plate_number', 'towed_location', 'latitude', 'longitude', 'occurred_at'],
    numbers: ['latitude', 'longitude'],
    moments: ['occurred_at'],
  },
  detained: { only: ['occurred_at'], moments: ['occurred_at'] },
  canceled: { only: ['reason', 'occurred_at'], moments: ['occurred_at'] },
  released: { only: ['occurred_at'], moments: ['occurred_at'] },
  invoice: { only: ['vehicle_type', 'delay_in_days', 'override_reason'], numbers: ['delay_in_days'] },
  payment: { only: ['payment_status', 'external_reference', 'occurred_at'], moments: ['occurred_at'] },
} as const satisfies Record<FactEvent, EntryRules>;

/** What people say about a tow. */
export function takeFacts(pages: Pages, tools: TowTools): void {
  for (const event of FACT_EVENTS) {
    pages.post(`/tows/:ref/${event}`, FACT_ROLES[event], async (posted) => {
      const ref = posted.params('ref');
      const refusal = event === 'released' ? await noteHandover(tools, posted) : null;
      if (refusal) return tools.show(posted, { form: formOfFact(event), refusal, entered: posted.form });
      return carryOut(tools.api, posted, {
        route: ROUTES[event],
        params: { towing_reference_id: ref },
        body: await factBody(tools, posted, event),
        form: formOfFact(event),
        next: towPath(ref),
        done: 'recorded',
        again: (failure) => tools.show(posted, failure),
      });
    });
  }
}

async function factBody({ progress }: TowTools, { form, params }: Posted, event: FactEvent) {
  const body = bodyOf(form, ENTRIES[event]);
  const occurredAt = body['occurred_at'];
  if (event === 'canceled') Object.assign(body, cancellation(form));
  if (typeof occurredAt === 'string') {
    const record = await progress.tows.read(params('ref'));
    body['occurred_at'] = withinItsMinute(occurredAt, record && previousMoment(record.tow));
  }
  return body;
}

/** The reason chosen and the words beside it are one text at the service. */
function cancellation(form: URLSearchParams): { cancellation_reason?: string } {
  const chosen = form.get('cancellation_reason') ?? '';
  const more = (form.get('cancellation_more') ?? '').trim();
  const parts = [chosen === 'other' ? '' : chosen, more].filter((words) => words !== '');
  // Nothing chosen is nothing said, whatever else was written.
  return chosen === '' || parts.length === 0 ? {} : { cancellation_reason: parts.join(': ') };
}

/** People enter minutes: what is told of the minute of the fact before it came right after that fact. */
export function withinItsMinute(entered: string, before: string | null): string {
  if (before === null) return entered;
  const [enteredMs, beforeMs] = [Date.parse(entered), Date.parse(before)];
  const isSameMinute = Math.floor(enteredMs / 60_000) === Math.floor(beforeMs / 60_000);
  return isSameMinute && enteredMs < beforeMs ? before : entered;
}
