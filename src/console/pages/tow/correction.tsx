import type { Report } from '../../../contracts/records';
import { CORRECTABLE_FIELDS } from '../../../domain/outbox';
import type { Failure } from '../../answers';
import { changedIn, unchangedAsNow, Was } from '../../changes';
import { bodyOf, fieldMoment } from '../../entries';
import { Field } from '../../parts/form';
import type { Viewer } from '../../viewer';

/** Correcting a report: exactly the fields that may be corrected, filled with what was sent, and what of them was changed. */

const NUMBERS: readonly string[] = ['latitude', 'longitude', 'delay_in_days'];
const LATIN: readonly string[] = [...NUMBERS, 'vehicle_type', 'payment_status'];

export function CorrectionFields(props: { viewer: Viewer; report: Report; form: string; failure: Failure | null }) {
  const { viewer, report, form } = props;
  const failure = unchangedAsNow(props.failure);
  return (
    <div class="fields">
      {CORRECTABLE_FIELDS[report.kind].map((name) => (
        <>
          <Was name={name} value={enteredValue(report, name)} />
          <Field
            viewer={viewer}
            form={form}
            name={name}
            label={viewer.words.towReports.fields[name]}
            value={enteredValue(report, name)}
            failure={failure}
            autocomplete="off"
            isRequired
            {...(LATIN.includes(name) ? { isLatin: true } : {})}
            {...(name === 'status_update_time' ? { type: 'datetime-local' as const } : {})}
            {...(NUMBERS.includes(name) ? { inputMode: name === 'delay_in_days' ? 'numeric' : 'decimal' } : {})}
          />
        </>
      ))}
    </div>
  );
}

/** Only what was changed: the record then says what it was, and nothing that stayed. */
export function correctionIn(form: URLSearchParams): ReturnType<typeof bodyOf> {
  return bodyOf(form, { only: changedIn(form), numbers: NUMBERS, moments: ['status_update_time'] });
}

/** What a field of a report holds, as its form takes it. */
function enteredValue({ body }: Report, name: string): string {
  const value = body[name];
  if (typeof value !== 'string' && typeof value !== 'number') return '';
  if (name !== 'status_update_time') return String(value);
  const ms = Date.parse(String(value));
  return Number.isNaN(ms) ? '' : fieldMoment(ms);
}
