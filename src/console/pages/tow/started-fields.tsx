import type { Whereabouts } from '../../../domain/tow';
import { UsePosition } from '../../parts/position';
import { Plate, Ref, Written } from '../../parts/text';
import { FactField, wasUsed, type FieldName, type FormOf } from './fact-field';
import type { TowModel } from './model';
import { Folded } from './offer';

const WIRE_NAMES = {
  plateNumber: 'plate_number',
  towedLocation: 'towed_location',
  latitude: 'latitude',
  longitude: 'longitude',
} as const satisfies Record<keyof Whereabouts, FieldName>;
const PLACE = ['plateNumber', 'towedLocation', 'latitude', 'longitude'] as const;

/** Which vehicle, and where it was taken from: what the violation tells is not asked. */
export function StartedFields({ model, form }: { model: TowModel; form: FormOf<'started'> }) {
  const { viewer } = model;
  const words = viewer.words.towFacts;
  const given = PLACE.filter((name) => !form.missing.includes(name));
  const isOpen = wasUsed(
    model,
    'started',
    given.map((name) => WIRE_NAMES[name]),
  );
  return (
    <>
      <WhereaboutsFields model={model} names={form.missing} isRequired />
      {given.length > 0 && (
        <>
          <Known model={model} form={form} names={given} />
          <Folded label={words.different} isOpen={isOpen} class="aside-field">
            <WhereaboutsFields model={model} names={given} />
          </Folded>
        </>
      )}
    </>
  );
}

function WhereaboutsFields({
  model,
  names,
  isRequired = false,
}: {
  model: TowModel;
  names: readonly (keyof Whereabouts)[];
  isRequired?: boolean;
}) {
  if (names.length === 0) return null;
  const common = { model, event: 'started', isRequired } as const;
  return (
    <div class="fields" data-position>
      {names.map((name) =>
        name === 'latitude' || name === 'longitude' ? (
          <FactField {...common} name={name} inputMode="decimal" isLatin />
        ) : (
          <FactField {...common} name={WIRE_NAMES[name]} autocomplete="off" />
        ),
      )}
      {names.includes('latitude') && <UsePosition viewer={model.viewer} />}
    </div>
  );
}

/** What the violation tells, so that nobody is asked for it. */
function Known({
  model,
  form: { known },
  names,
}: {
  model: TowModel;
  form: FormOf<'started'>;
  names: readonly (keyof Whereabouts)[];
}) {
  const words = model.viewer.words.towFacts;
  return (
    <dl class="facts known">
      {names.map((name) => (
        <>
          <dt>{words.fields[WIRE_NAMES[name]]}</dt>
          <dd>
            {name === 'plateNumber' && known.plateNumber !== null && <Plate plate={known.plateNumber} />}
            {name === 'towedLocation' && known.towedLocation !== null && <Written>{known.towedLocation}</Written>}
            {(name === 'latitude' || name === 'longitude') && <Ref>{String(known[name])}</Ref>}
          </dd>
        </>
      ))}
    </dl>
  );
}
