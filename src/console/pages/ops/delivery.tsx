import type { z } from 'zod';
import type { deliveryDetail } from '../../../contracts/operator';
import type { Failure } from '../../answers';
import { Moment, Ref } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { Act } from './act';
import { DeliveryState, TowOf, Verified, verdictText } from './delivery-words';
import { indented } from './indented';
import { Tabs } from './tabs';

interface DeliveryProps {
  readonly viewer: Viewer;
  readonly delivery: z.output<typeof deliveryDetail>;
  readonly failure: Failure | null;
}

/** One webhook call: all that is known of it, and its body to the byte. */
export function DeliveryPage(props: DeliveryProps) {
  const { viewer, delivery } = props;
  const words = viewer.words.deliveries;
  const pretty = indented(delivery.raw_body);
  return (
    <>
      <p>
        <a href="/ops/deliveries">{words.back}</a>
      </p>
      <h1>
        {words.one}: {viewer.words.terms.deliveries[delivery.kind]}
      </h1>
      <Tabs viewer={viewer} here="/ops/deliveries" />
      <DeliveryNow {...props} />
      <div class="bodies">
        <section class="card">
          <h2>{words.pretty}</h2>
          {pretty === null ? <p class="muted">{words.notJson}</p> : <pre tabindex={0}>{pretty}</pre>}
        </section>
        <section class="card">
          <h2>{words.raw}</h2>
          <pre tabindex={0}>{delivery.raw_body}</pre>
        </section>
      </div>
    </>
  );
}

/** How it stands, which changes while it is processed. */
export function DeliveryNow({ viewer, delivery, failure }: DeliveryProps) {
  const words = viewer.words.deliveries;
  const { heads } = words;
  const { formats } = viewer;
  const address = `/ops/deliveries/${encodeURIComponent(delivery.id)}`;
  return (
    <section
      class="card delivery"
      id="delivery"
      aria-label={viewer.words.ops.state}
      data-watch="deliverys"
      hx-get={address}
      hx-trigger="changed"
      hx-swap="morph:outerHTML"
    >
      <dl class="facts">
        <dt>{heads.state}</dt>
        <dd>
          <DeliveryState viewer={viewer} state={delivery.state} />
          {delivery.state === 'parked' && <span class="muted"> {words.parked}</span>}
        </dd>
        <dt>{heads.verdict}</dt>
        <dd>{verdictText(viewer, delivery.verdict)}</dd>
        <dt>{heads.tow}</dt>
        <dd>
          <TowOf delivery={delivery} />
        </dd>
        <dt>{heads.received}</dt>
        <dd>
          <Moment viewer={viewer} at={delivery.received_at} />
        </dd>
        <dt>{words.processed}</dt>
        <dd>
          {delivery.processed_at === null ? (
            <span class="muted">{words.notProcessed}</span>
          ) : (
            <Moment viewer={viewer} at={delivery.processed_at} />
          )}
        </dd>
        <dt>{heads.verified}</dt>
        <dd>
          <Verified viewer={viewer} isVerified={delivery.verified} />
        </dd>
        {delivery.signature_id !== null && (
          <>
            <dt>{words.signatureId}</dt>
            <dd>
              <Ref>{delivery.signature_id}</Ref>
            </dd>
          </>
        )}
        <dt>{heads.copies}</dt>
        <dd>
          {formats.number(delivery.copies)} <span class="muted">{words.copiesHint}</span>
        </dd>
        <dt>{heads.failures}</dt>
        <dd>{formats.number(delivery.failures)}</dd>
        <dt>{words.replays}</dt>
        <dd>{delivery.replays === 0 ? words.never : words.times(delivery.replays)}</dd>
        <dt>{words.id}</dt>
        <dd>
          <code dir="ltr">{delivery.id}</code>
        </dd>
      </dl>
      {viewer.may('ops') && (
        <Act
          viewer={viewer}
          form="replay"
          action={`${address}/replay`}
          label={words.replay}
          about={words.replay}
          hint={words.replayWhat}
          sure={words.replaySure}
          failure={failure}
        />
      )}
    </section>
  );
}
