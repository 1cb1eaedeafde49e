import { FACT_CONTRACTS, fieldsOfKind } from '../../../contracts/tow/facts';
import type { AllowedFact } from '../../../domain/tow/allowed-facts';
import type { FactForm } from '../../../domain/tow/facts';
import { Fact, Timestamp, Plate, Ref, UserText } from '../../parts/text';
import type { TowModel } from './model';
import { digestOf, Folded, UsePosition, Field, type FieldProps } from '../../parts/form';
import { WHEREABOUTS_FIELDS } from '../../../domain/tow/tow';
import { fieldLabel } from '../../parts/problem';
import type { FactEvent } from '../../../domain/vocabulary';

/** The fields of each fact. Optional ones are folded. */

export type Allowed = AllowedFact & { readonly allowed: true };

export function FactFields({ model, fact }: { model: TowModel; fact: Allowed }) {
  if (fact.event === 'started') return <StartedFields model={model} form={fact} />;
  if (fact.event === 'released') return <ReleasedFields model={model} />;
  if (fact.event === 'canceled') return <CanceledFields model={model} form={fact} />;
  if (fact.event === 'invoice') return <InvoiceFields model={model} form={fact} />;
  if (fact.event === 'payment') return <PaymentFields model={model} form={fact} />;
  return <PlainFields model={model} event={fact.event} />;
}

/** The fields of a fact that needs no form of its own; `WhenField` asks for the time. */
function PlainFields({ model: { viewer, failure }, event }: { model: TowModel; event: FactEvent }) {
  const { body } = FACT_CONTRACTS[event];
  const names = Object.keys(body.shape).filter((name) => name !== 'occurred_at');
  const numbers = fieldsOfKind(body, 'number');
  if (names.length === 0) return null;
  return (
    <div class="fields">
      {names.map((name) => (
        <Field
          viewer={viewer}
          form={formOfFact(event)}
          name={name}
          label={fieldLabel(viewer, name) ?? name}
          failure={failure}
          {...(numbers.includes(name) ? { inputMode: 'decimal' as const, isLatin: true } : {})}
        />
      ))}
    </div>
  );
}

/** The API refuses times before the year 2000. */
const EARLIEST = '2000-01-01T00:00';

/** The time of a fact, folded away: most facts are recorded when they happen. */
export function WhenField({ model, fact }: { model: TowModel; fact: Allowed }) {
  const { viewer } = model;
  const messages = viewer.messages.towFacts;
  if (fact.event === 'invoice') return null;
  return (
    <Folded label={messages.otherTime} isOpen={wasUsed(model, fact.event, ['occurred_at'])} class="aside-field">
      <FactField
        model={model}
        event={fact.event}
        name="occurred_at"
        type="datetime-local"
        hint={messages.timeHint}
        min={EARLIEST}
        isPast
      />
      {fact.notBefore !== null && (
        <p class="hint">{messages.notBefore.rich({ time: <Timestamp viewer={viewer} at={fact.notBefore} /> })}</p>
      )}
    </Folded>
  );
}

/** The reasons that can be chosen, each with the English text that the service gets. */
const CANCELLATION_REASONS = [
  ['gone_on_arrival', 'Gone on arrival'],
  ['owner_moved_it', 'Owner came and moved the vehicle'],
  ['wrong_vehicle', 'Wrong vehicle'],
  ['unreachable', 'Vehicle cannot be reached'],
  ['unsafe', 'Vehicle cannot be towed safely'],
  ['mistake', 'Requested by mistake'],
] as const;

function CanceledFields({ model, form }: { model: TowModel; form: FormOfEvent<'canceled'> }) {
  const messages = model.viewer.messages.towFacts;
  const reasons = CANCELLATION_REASONS.map(([key, sent]) => [sent, messages.reasons[key]] as const);
  const options = [['', messages.choose], ...reasons, ['other', messages.otherReason]] as const;
  return (
    <>
      <div class="fields">
        <FactField model={model} event="canceled" name="cancellation_reason" options={options} isRequired />
        <FactField
          model={model}
          event="canceled"
          name="cancellation_more"
          hint={messages.moreHint}
          autocomplete="off"
          maxLength={400}
        />
      </div>
      {form.needsReason && (
        <FactField model={model} event="canceled" name="reason" hint={messages.opsReasonHint} rows={2} isRequired />
      )}
    </>
  );
}

function InvoiceFields({ model, form }: { model: TowModel; form: FormOfEvent<'invoice'> }) {
  const { viewer } = model;
  const messages = viewer.messages.towFacts;
  const { days, detainedAt, daysCounted, freeDays } = form.delay;
  const delay = <strong>{messages.delay({ count: days })}</strong>;
  const options = form.vehicleTypes.map((type) => [type, type] as const);
  return (
    <>
      <div class="fields">
        <FactField model={model} event="invoice" name="vehicle_type" options={options} isRequired isLatin />
      </div>
      <p>
        {detainedAt === null
          ? messages.delayOf.none.rich({ delay })
          : messages.delayOf.counted.rich({
              delay,
              time: <Timestamp viewer={viewer} at={detainedAt} />,
              counted: daysCounted,
              free: freeDays,
            })}
      </p>
      <Folded
        label={messages.otherDays}
        isOpen={wasUsed(model, 'invoice', ['delay_in_days', 'override_reason'])}
        class="aside-field"
      >
        <div class="fields">
          <FactField model={model} event="invoice" name="delay_in_days" inputMode="numeric" isLatin />
          <FactField model={model} event="invoice" name="override_reason" hint={messages.overrideHint} />
        </div>
      </Folded>
    </>
  );
}

/** Who took the vehicle. The service has no such field; it becomes a note (facts-route.ts). */
function ReleasedFields({ model }: { model: TowModel }) {
  const { handedHint } = model.viewer.messages.towFacts;
  const common = { model, event: 'released', autocomplete: 'off' } as const;
  return (
    <div class="fields">
      <FactField {...common} name="handed_to" hint={handedHint} maxLength={200} />
      <FactField {...common} name="handed_id" maxLength={50} isLatin />
    </div>
  );
}

function PaymentFields({ model, form }: { model: TowModel; form: FormOfEvent<'payment'> }) {
  const options = form.paymentStatuses.map((status) => [status, status] as const);
  return (
    <div class="fields">
      <FactField model={model} event="payment" name="payment_status" options={options} isRequired isLatin />
      <FactField model={model} event="payment" name="external_reference" autocomplete="off" isLatin />
    </div>
  );
}

/** The vehicle and its place. Values of the violation are not asked again. */
function StartedFields({ model, form }: { model: TowModel; form: FormOfEvent<'started'> }) {
  const { viewer } = model;
  const messages = viewer.messages.towFacts;
  const missing = WHEREABOUTS_FIELDS.filter(({ key }) => form.missing.includes(key));
  const given = WHEREABOUTS_FIELDS.filter(({ key }) => !form.missing.includes(key));
  const isOpen = wasUsed(
    model,
    'started',
    given.map(({ name }) => name),
  );
  return (
    <>
      <WhereaboutsFields model={model} fields={missing} areMissing />
      {given.length > 0 && (
        <>
          <SuppliedValues model={model} form={form} fields={given} />
          <Folded label={messages.different} isOpen={isOpen} class="aside-field">
            <WhereaboutsFields model={model} fields={given} />
          </Folded>
        </>
      )}
    </>
  );
}

function WhereaboutsFields({
  model,
  fields,
  areMissing = false,
}: {
  model: TowModel;
  fields: typeof WHEREABOUTS_FIELDS;
  areMissing?: boolean;
}) {
  if (fields.length === 0) return null;
  const { hints } = model.viewer.messages.common.position;
  const numbers = fieldsOfKind(FACT_CONTRACTS.started.body, 'number');
  return (
    <div class="fields" data-position>
      {fields.map(({ name, isRequired }) => (
        <FactField
          model={model}
          event="started"
          name={name}
          isRequired={areMissing && isRequired}
          {...(numbers.includes(name)
            ? { inputMode: 'decimal' as const, isLatin: true }
            : { autocomplete: 'off' as const })}
          {...(name === 'latitude' || name === 'longitude' ? { hint: hints[name] } : {})}
        />
      ))}
      {fields.some(({ name }) => name === 'latitude') && <UsePosition viewer={model.viewer} />}
    </div>
  );
}

/** The values that the violation supplies. */
function SuppliedValues({
  model,
  form: { known },
  fields,
}: {
  model: TowModel;
  form: FormOfEvent<'started'>;
  fields: typeof WHEREABOUTS_FIELDS;
}) {
  const messages = model.viewer.messages.towFacts;
  return (
    <dl class="facts known">
      {fields.map(({ name, key }) => (
        <Fact label={messages.fields[name]}>
          <SuppliedValue name={name} value={known[key]} />
        </Fact>
      ))}
    </dl>
  );
}

function SuppliedValue({ name, value }: { name: FieldName; value: string | number | null }) {
  if (typeof value === 'number') return <Ref>{String(value)}</Ref>;
  if (value === null) return null;
  return name === 'plate_number' ? <Plate plate={value} /> : <UserText>{value}</UserText>;
}

/** The allowed fact of one event. */
type FormOfEvent<E extends FactEvent> = Extract<FactForm, { event: E }>;

/** The name of its form on the page. */
export const formOfFact = (event: FactEvent) => `fact-${event}`;

/**
 * The question that the form of a fact answers (`submit`): the values that it shows and that are recorded without being
 * sent with it. Null for a fact that has none, or that is not allowed.
 */
export function questionOfFact(fact: AllowedFact): string | null {
  if (!fact.allowed) return null;
  if (fact.event === 'started') return digestOf(fact.known);
  return fact.event === 'invoice' ? digestOf(fact.delay.days) : null;
}

type FieldName = keyof TowModel['viewer']['messages']['towFacts']['fields'];

/** A field of a fact, with its label. */
function FactField({
  model,
  event,
  name,
  ...props
}: { model: TowModel; event: FactEvent; name: FieldName } & Omit<FieldProps, 'viewer' | 'name' | 'form' | 'label'>) {
  const { viewer, failure } = model;
  const label = viewer.messages.towFacts.fields[name];
  return <Field viewer={viewer} form={formOfFact(event)} name={name} label={label} failure={failure} {...props} />;
}

/** True if one of the fields was entered or refused. */
function wasUsed({ failure }: TowModel, event: FactEvent, names: readonly string[]): boolean {
  if (failure?.form !== formOfFact(event)) return false;
  const { entered, refusal } = failure;
  return names.some((name) => (entered.get(name) ?? '') !== '' || refusal.details.some(({ field }) => field === name));
}
