import type { Report } from '../../../contracts/records';
import { CORRECTABLE_FIELDS } from '../../../domain/outbox';
import type { Failure } from '../../answers';
import { bodyOf } from '../../entries';
import { Field } from '../../parts/form';
import type { Viewer } from '../../viewer';
import { enteredValue } from '../tow/decide';

/** Correcting a report where it stands: its fields as they were sent, and what of them was changed. */

const NUMBERS: readonly string[] = ['latitude', 'longitude', 'delay_in_days'];
const LATIN: readonly string[] = [...NUMBERS, 'vehicle_type', 'payment_status'];
/** Of a field as the form was filled with it. */
const WAS = 'was-';

export function CorrectionFields(props: { viewer: Viewer; report: Report; form: string; failure: Failure | null }) {
  const { viewer, report, form, failure } = props;
  return (
    <div class="fields">
      {CORRECTABLE_FIELDS[report.kind].map((name) => (
        <>
          <input type="hidden" name={`${WAS}${name}`} value={enteredValue(report, name)} />
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
            {...(NUMBERS.includes(name) ? { inputMode: 'decimal' as const } : {})}
          />
        </>
      ))}
    </div>
  );
}

/**
 * Only what was changed, by what the form was filled with: the same form always says the same, also when the report has
 * been corrected by it before.
 */
export function correctionIn(form: URLSearchParams): ReturnType<typeof bodyOf> {
  const changed = [...form.keys()].filter(
    (name) => form.has(`${WAS}${name}`) && (form.get(name) ?? '').trim() !== form.get(`${WAS}${name}`),
  );
  return bodyOf(form, { only: changed, numbers: NUMBERS, moments: ['status_update_time'] });
}
