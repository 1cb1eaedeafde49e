import { reconcile, halalas } from '../../../domain/tow/charges';
import { Badge, By, Timestamp, Ref, UserText } from '../../parts/text';
import type { TowModel } from './model';
import type { TowView } from '../../../contracts/operator';
import type { Json, JsonObject } from '../../../domain/vocabulary';
import type { Viewer } from '../../viewer';

/** All versions of the invoice, and whether answer and webhook agree. */
export function Invoice({ model }: { model: TowModel }) {
  const { viewer, view } = model;
  const messages = viewer.messages.tow.invoice;
  const { invoice_request: asked } = view;
  const versions = view.invoices.toReversed();
  const [latest, ...older] = versions;
  if (!latest && !asked) return null;
  return (
    <section class="card" id="invoice" aria-labelledby="invoice-title">
      <h2 id="invoice-title">{viewer.messages.terms.operations.invoice}</h2>
      {asked !== null && (
        <p>
          {messages.asked({ vehicle: asked.vehicle_type, days: messages.days({ count: asked.delay_in_days }) })}
          {asked.delay_in_days !== asked.computed_delay_in_days && (
            <span class="muted"> ({overrideText(viewer, asked)})</span>
          )}
        </p>
      )}
      {!latest && <p class="muted">{messages.waiting}</p>}
      {latest && (
        <>
          <Reconciled model={model} />
          <VersionTable viewer={viewer} version={latest} />
        </>
      )}
      {older.length > 0 && (
        <details id="invoice-older">
          <summary>{messages.older({ count: older.length })}</summary>
          <div class="folded-body">
            {older.map((version) => (
              <VersionTable viewer={viewer} version={version} />
            ))}
          </div>
        </details>
      )}
      <Payments model={model} />
      <p class="muted">{messages.notTax}</p>
    </section>
  );
}

/** The days of delay that were computed, where a person set others. */
function overrideText(
  { messages }: Viewer,
  { computed_delay_in_days: computed, override_reason: reason }: NonNullable<TowView['invoice_request']>,
): string {
  const { invoice } = messages.tow;
  return reason === null ? invoice.override({ computed }) : invoice.overrideReason({ computed, reason });
}

/** Compares the latest answer with the latest webhook. */
function Reconciled({ model: { viewer, view } }: { model: TowModel }) {
  const messages = viewer.messages.tow.invoice;
  const answer = view.invoices.findLast(({ source }) => source === 'answer');
  const webhook = view.invoices.findLast(({ source }) => source === 'webhook');
  if (!answer || !webhook) return <p class="muted">{messages.oneSide}</p>;
  const differing = reconcile(chargesOf(answer), chargesOf(webhook), view.payments);
  if (differing.length === 0) return <p class="agree">{messages.agree}</p>;
  return (
    <p class="differ">
      <strong>{messages.differ}</strong>{' '}
      {differing.map((field, index) => (
        <>
          {index > 0 && ', '}
          <Ref>{field}</Ref>
        </>
      ))}
    </p>
  );
}

function chargesOf({ towing_invoice, delay_invoice }: Version) {
  return { towingInvoice: towing_invoice, delayInvoice: delay_invoice };
}

function Payments({ model: { viewer, view } }: { model: TowModel }) {
  const messages = viewer.messages.tow.invoice;
  const { payments } = view;
  if (payments.length === 0) return null;
  const facts = view.facts.filter(({ event }) => event === 'payment');
  return (
    <>
      <h3>{messages.payments}</h3>
      <ul class="plain-list">
        {payments.map(({ payment_status: status, external_reference: externalReference, withdrawn }, index) => {
          const fact = facts[index];
          return (
            <li>
              <Ref>{status}</Ref>
              {externalReference !== null && (
                <>
                  {' · '}
                  <UserText>{externalReference}</UserText>
                </>
              )}
              {fact && (
                <>
                  {' · '}
                  <By viewer={viewer} at={fact.occurred_at} by={fact.by} />
                </>
              )}
              {withdrawn && <Badge tone="quiet">{messages.withdrawn}</Badge>}
            </li>
          );
        })}
      </ul>
    </>
  );
}

type Version = TowView['invoices'][number];

/** Towing and delay charges side by side. */
function VersionTable({ viewer, version }: { viewer: Viewer; version: Version }) {
  const messages = viewer.messages.tow.invoice;
  const { towing_invoice: towing, delay_invoice: delay } = version;
  const amounts = [
    [messages.tax, 'tax'],
    [messages.total, 'total_amount'],
    [messages.paid, 'paid_amount'],
  ] as const;
  const names = [
    [messages.number, 'invoice_number'],
    [messages.vat, 'vat_number'],
  ] as const;
  return (
    <div class="scroll" tabindex={0} role="group" aria-label={messages.sources[version.source]}>
      <table class="charges">
        <caption>
          {messages.sources[version.source]} · <Timestamp viewer={viewer} at={version.received_at} />
        </caption>
        <thead>
          <tr>
            <th scope="col">{messages.charge}</th>
            <th scope="col">{messages.towing}</th>
            <th scope="col">{messages.delay}</th>
            <th scope="col">{messages.sum}</th>
          </tr>
        </thead>
        <tbody>
          {names
            .filter(([, name]) => towing[name] !== undefined || delay?.[name] !== undefined)
            .map(([label, name]) => (
              <tr>
                <th scope="row">{label}</th>
                <td>{textIn(towing, name)}</td>
                <td>{textIn(delay, name)}</td>
                <td />
              </tr>
            ))}
          {amounts.map(([label, name]) => (
            <tr>
              <th scope="row">{label}</th>
              <td class="number">{moneyIn(viewer, towing[name])}</td>
              <td class="number">{moneyIn(viewer, delay?.[name])}</td>
              <td class="number">{sumOf(viewer, towing[name], delay?.[name])}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function textIn(charge: JsonObject | null, name: string) {
  const value = charge?.[name];
  return typeof value === 'string' || typeof value === 'number' ? <Ref>{String(value)}</Ref> : '–';
}

/** An amount; text that is no amount is shown unchanged. */
function moneyIn(viewer: Viewer, amount: Json | undefined): string {
  const value = halalas(amount);
  if (value !== null) return viewer.formats.money(value / 100);
  return typeof amount === 'string' ? amount : '–';
}

/** The sum. Absent charges count as zero; an unreadable one leaves no sum. */
function sumOf(viewer: Viewer, ...amounts: readonly (Json | undefined)[]): string {
  const known = amounts.filter((amount) => amount !== undefined && amount !== null).map(halalas);
  if (known.length === 0 || known.includes(null)) return '–';
  return viewer.formats.money(known.reduce<number>((sum, value) => sum + (value ?? 0), 0) / 100);
}
