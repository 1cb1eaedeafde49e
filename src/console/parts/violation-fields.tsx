import { VIOLATION_FIELDS } from '../../contracts/violation/violation-input';
import { PLATE_TYPES, VIOLATION_TYPES } from '../../domain/vocabulary';
import type { FormFailure } from '../page';
import { valueUnder } from '../messages';
import { Field, type FieldProps } from './form';
import type { Viewer } from '../viewer';

/** The fields of the form of a violation (docs/service-api.md#violation-form), as they are entered and corrected. */
export type FormField = keyof typeof VIOLATION_FIELDS;

/** The name of the form in which a violation is reported. */
export const REPORT_FORM = 'report';

export const VEHICLE_FIELDS = ['plateNumber', 'plateType', 'violationType', 'isSaudi'] as const;
export const PLACE_FIELDS = ['date', 'zoneId', 'latitude', 'longitude', 'location'] as const;

/** True for what the contract of the form asks for. */
function isRequired(name: FormField): boolean {
  return !VIOLATION_FIELDS[name].safeParse(undefined).success;
}

interface ViolationFieldProps {
  readonly viewer: Viewer;
  readonly form: string;
  readonly name: FormField;
  readonly value?: string;
  readonly failure: FormFailure | null;
  /** Zones that were reported before. */
  readonly zones?: readonly string[];
  readonly type?: 'datetime-local';
}

/** One field of the form, as its contract takes it. */
export function ViolationField({ viewer, form, name, value, failure, zones = [], type }: ViolationFieldProps) {
  const { fields, hints } = viewer.messages.violationForm;
  const hint = valueUnder(hints, name) ?? valueUnder(viewer.messages.common.position.hints, name) ?? undefined;
  return (
    <Field
      viewer={viewer}
      form={form}
      name={name}
      label={fields[name]}
      failure={failure}
      autocomplete="off"
      isRequired={isRequired(name)}
      {...(value === undefined ? {} : { value })}
      {...(hint === undefined ? {} : { hint })}
      {...kindOf(viewer, name)}
      {...(name === 'zoneId' && zones.length > 0 ? { suggestions: zones } : {})}
      {...(type === undefined ? {} : { type })}
    />
  );
}

type InputKind = Partial<Pick<FieldProps, 'type' | 'inputMode' | 'isLatin' | 'rows' | 'options' | 'maxLength'>>;

function kindOf({ messages }: Viewer, name: FormField): InputKind {
  const { choose } = messages.towFacts;
  const { notSpecified, plateTypes } = messages.violationForm;
  switch (name) {
    case 'plateType':
      return { options: [['', choose], ...PLATE_TYPES.map((each) => [each, plateTypes[each]] as const)] };
    case 'violationType':
      return {
        options: [['', choose], ...VIOLATION_TYPES.map((each) => [each, messages.terms.violationTypes[each]] as const)],
      };
    case 'isSaudi':
      return {
        options: [
          ['', notSpecified],
          ['true', messages.common.yes],
          ['false', messages.common.no],
        ],
      };
    case 'latitude':
    case 'longitude':
      return { isLatin: true, inputMode: 'decimal' };
    case 'date':
    case 'zoneId':
      return { isLatin: true };
    case 'identityNumber':
    case 'supervisorIdentityNumber':
      return { isLatin: true, inputMode: 'numeric' };
    case 'mobileNumber':
    case 'supervisorMobileNumber':
      return { isLatin: true, type: 'tel' };
    case 'location':
    case 'imagesDescription':
      return { rows: 2, maxLength: 1000 };
    case 'metadata':
      return { rows: 3 };
    case 'plateNumber':
      return { maxLength: 50 };
    case 'fullName':
    case 'supervisorFullName':
      return { maxLength: 1000 };
  }
}
