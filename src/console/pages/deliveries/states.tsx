import type { ProcessedVerdict } from '../../../domain/webhook/delivery';
import type { DELIVERY_STATES } from '../../../domain/vocabulary';
import { valueUnder } from '../../messages';
import { Badge, Ref, type Tone } from '../../parts/text';
import type { Viewer } from '../../viewer';

/** State, verdict and tow of a delivery. */

type DeliveryStateName = (typeof DELIVERY_STATES)[number];

const TONES: Readonly<Record<DeliveryStateName, Tone>> = {
  waiting: 'busy',
  parked: 'wait',
  differs: 'wait',
  processed: 'good',
};

export function DeliveryState({ viewer, state }: { viewer: Viewer; state: DeliveryStateName }) {
  const messages = viewer.messages.deliveries;
  return (
    <Badge tone={TONES[state]} {...(state === 'parked' ? { title: messages.parked } : {})}>
      {messages.states[state]}
    </Badge>
  );
}

export function Verified({ viewer, isVerified }: { viewer: Viewer; isVerified: boolean }) {
  const messages = viewer.messages.deliveries;
  return <Badge tone={isVerified ? 'good' : 'quiet'}>{isVerified ? messages.verified : messages.unverified}</Badge>;
}

/** The verdict of a delivery; an unknown one as stored. */
export function verdictText({ messages }: Viewer, verdict: string | null) {
  const { verdicts, noVerdict }: { verdicts: Readonly<Record<ProcessedVerdict, string>>; noVerdict: string } =
    messages.deliveries;
  if (verdict === null) return <span class="muted">{noVerdict}</span>;
  return valueUnder(verdicts, verdict) ?? <Ref>{verdict}</Ref>;
}

/** The tow of a delivery, as a link once it exists. */
export function TowOf({
  delivery,
}: {
  delivery: { readonly state: DeliveryStateName; readonly towing_reference_id: string };
}) {
  const ref = delivery.towing_reference_id;
  if (delivery.state !== 'processed') return <Ref>{ref}</Ref>;
  return (
    <a href={`/tows/${encodeURIComponent(ref)}`}>
      <Ref>{ref}</Ref>
    </a>
  );
}
