import { isWithdrawn } from '../../../domain/billing';
import { reconcile } from '../../../domain/invoice';
import { Badge, Moment, Ref, Written } from '../../parts/text';
import { VersionTable, type Version } from './charges';
import type { TowModel } from './model';

/** The invoice as the service told it, each time it did; and whether it told the same. */
export function Invoice({ model }: { model: TowModel }) {
  const { viewer, view, record } = model;
  const words = viewer.words.tow.invoice;
  const { invoiceRequest } = record.tow;
  const versions = view.invoices.toReversed();
  const [latest, ...older] = versions;
  if (!latest && !invoiceRequest) return null;
  return (
    <section class="card" id="invoice" aria-labelledby="invoice-title">
      <h2 id="invoice-title">{viewer.words.tow.sections.invoice}</h2>
      {invoiceRequest !== null && (
        <p>
          {words.asked(invoiceRequest.vehicleType, words.days(invoiceRequest.delayInDays))}
          {invoiceRequest.delayInDays !== invoiceRequest.computedDelayInDays && (
            <span class="muted">
              {' '}
              ({words.override(invoiceRequest.computedDelayInDays, invoiceRequest.overrideReason)})
            </span>
          )}
        </p>
      )}
      {!latest && <p class="muted">{words.waiting}</p>}
      {latest && (
        <>
          <Reconciled model={model} />
          <VersionTable viewer={viewer} version={latest} />
        </>
      )}
      {older.length > 0 && (
        <details id="invoice-older">
          <summary>{words.older(older.length)}</summary>
          <div class="folded-body">
            {older.map((version) => (
              <VersionTable viewer={viewer} version={version} />
            ))}
          </div>
        </details>
      )}
      <Payments model={model} />
      <p class="muted">{words.notTax}</p>
    </section>
  );
}

/** Compares as the house does: the answer with the newest call of the webhook. */
function Reconciled({ model: { viewer, view } }: { model: TowModel }) {
  const words = viewer.words.tow.invoice;
  const answer = view.invoices.findLast(({ source }) => source === 'answer');
  const webhook = view.invoices.findLast(({ source }) => source === 'webhook');
  if (!answer || !webhook) return <p class="muted">{words.oneSide}</p>;
  const differing = reconcile(chargesOf(answer), chargesOf(webhook));
  if (differing.length === 0) return <p class="agree">{words.agree}</p>;
  return (
    <p class="differ">
      <strong>{words.differ}</strong>{' '}
      {differing.map(({ field }, index) => (
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

function Payments({ model: { viewer, record } }: { model: TowModel }) {
  const words = viewer.words.tow.invoice;
  const { tow, reports } = record;
  if (tow.payments.length === 0) return null;
  const facts = tow.facts.filter(({ event }) => event === 'payment');
  return (
    <>
      <h3>{words.payments}</h3>
      <ul class="plain-list">
        {tow.payments.map(({ paymentStatus, externalReference }, index) => {
          const fact = facts[index];
          return (
            <li>
              <Ref>{paymentStatus}</Ref>
              {externalReference !== null && (
                <>
                  {' · '}
                  <Written>{externalReference}</Written>
                </>
              )}
              {fact && (
                <>
                  {' · '}
                  <Moment viewer={viewer} at={fact.occurredAt} /> · {viewer.words.common.by}{' '}
                  <Written>{fact.by}</Written>
                </>
              )}
              {isWithdrawn(reports, index) && <Badge tone="quiet">{words.withdrawn}</Badge>}
            </li>
          );
        })}
      </ul>
    </>
  );
}
