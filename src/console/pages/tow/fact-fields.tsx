import type { AllowedFact } from '../../../domain/allowed-facts';
import { Moment } from '../../parts/text';
import { FactField, wasUsed, type FormOf } from './fact-field';
import type { TowModel } from './model';
import { Folded } from './offer';
import { StartedFields } from './started-fields';

/** The fields of each fact: only what must be asked, and behind a fold what may be said besides. */

export type Allowed = AllowedFact & { readonly allowed: true };

export function FactFields({ model, fact }: { model: TowModel; fact: Allowed }) {
  switch (fact.event) {
    case 'started':
      return <StartedFields model={model} form={fact} />;
    case 'detained':
      return null;
    case 'released':
      return <ReleasedFields model={model} />;
    case 'canceled':
      return <CanceledFields model={model} form={fact} />;
    case 'invoice':
      return <InvoiceFields model={model} form={fact} />;
    case 'payment':
      return <PaymentFields model={model} form={fact} />;
  }
}

/** Most things are told when they happen: the moment is asked only of whoever tells of earlier ones. */
export function WhenField({ model, fact }: { model: TowModel; fact: Allowed }) {
  const { viewer } = model;
  const words = viewer.words.towFacts;
  if (fact.event === 'invoice') return null;
  return (
    <Folded label={words.otherTime} isOpen={wasUsed(model, fact.event, ['occurred_at'])} class="aside-field">
      <FactField model={model} event={fact.event} name="occurred_at" type="datetime-local" hint={words.timeHint} />
      {fact.notBefore !== null && (
        <p class="hint">
          {words.notBefore} <Moment viewer={viewer} at={fact.notBefore} />
        </p>
      )}
    </Folded>
  );
}

function CanceledFields({ model, form }: { model: TowModel; form: FormOf<'canceled'> }) {
  const words = model.viewer.words.towFacts;
  const options = [['', words.choose], ...words.reasons, ['other', words.otherReason]] as const;
  return (
    <>
      <div class="fields">
        <FactField model={model} event="canceled" name="cancellation_reason" options={options} isRequired />
        <FactField
          model={model}
          event="canceled"
          name="cancellation_more"
          hint={words.moreHint}
          autocomplete="off"
          maxLength={400}
        />
      </div>
      {form.needsReason && (
        <FactField model={model} event="canceled" name="reason" hint={words.opsReasonHint} rows={2} isRequired />
      )}
    </>
  );
}

function InvoiceFields({ model, form }: { model: TowModel; form: FormOf<'invoice'> }) {
  const { viewer } = model;
  const words = viewer.words.towFacts;
  const { days, detainedAt, daysCounted, freeDays } = form.delay;
  const options = form.vehicleTypes.map((type) => [type, type] as const);
  return (
    <>
      <div class="fields">
        <FactField model={model} event="invoice" name="vehicle_type" options={options} isRequired isLatin />
      </div>
      <p>
        <strong>{words.delay(days)}</strong>
        {': '}
        {detainedAt === null ? (
          words.delayOf.none
        ) : (
          <>
            {viewer.words.terms.facts.detained} <Moment viewer={viewer} at={detainedAt} />,{' '}
            {words.delayOf.counted(daysCounted, freeDays)}
          </>
        )}
        .
      </p>
      <Folded
        label={words.otherDays}
        isOpen={wasUsed(model, 'invoice', ['delay_in_days', 'override_reason'])}
        class="aside-field"
      >
        <div class="fields">
          <FactField model={model} event="invoice" name="delay_in_days" inputMode="numeric" isLatin />
          <FactField model={model} event="invoice" name="override_reason" hint={words.overrideHint} />
        </div>
      </Folded>
    </>
  );
}

/** Who took the vehicle: the service has no field for it (take-handover.ts). */
function ReleasedFields({ model }: { model: TowModel }) {
  const { handedHint } = model.viewer.words.towFacts;
  const common = { model, event: 'released', autocomplete: 'off' } as const;
  return (
    <div class="fields">
      <FactField {...common} name="handed_to" hint={handedHint} maxLength={200} />
      <FactField {...common} name="handed_id" maxLength={50} isLatin />
    </div>
  );
}

function PaymentFields({ model, form }: { model: TowModel; form: FormOf<'payment'> }) {
  const options = form.paymentStatuses.map((status) => [status, status] as const);
  return (
    <div class="fields">
      <FactField model={model} event="payment" name="payment_status" options={options} isRequired isLatin />
      <FactField model={model} event="payment" name="external_reference" autocomplete="off" isLatin />
    </div>
  );
}
