import type { DELIVERY_STATES } from '../../../domain/vocabulary';
import { Badge, Ref, type Tone } from '../../parts/text';
import type { Viewer } from '../../viewer';

/** What is said of a delivery in a word or two, in the list and on its page. */

type State = (typeof DELIVERY_STATES)[number];

const TONES: Readonly<Record<State, Tone>> = { waiting: 'busy', parked: 'wait', processed: 'good' };

export function DeliveryState({ viewer, state }: { viewer: Viewer; state: State }) {
  const words = viewer.words.deliveries;
  return (
    <Badge tone={TONES[state]} {...(state === 'parked' ? { title: words.parked } : {})}>
      {words.states[state]}
    </Badge>
  );
}

export function Verified({ viewer, isVerified }: { viewer: Viewer; isVerified: boolean }) {
  const words = viewer.words.deliveries;
  return <Badge tone={isVerified ? 'good' : 'quiet'}>{isVerified ? words.verified : words.unverified}</Badge>;
}

/** What a delivery did; a verdict of another version as it is stored. */
export function verdictText({ words }: Viewer, verdict: string | null) {
  const { verdicts, noVerdict } = words.deliveries;
  if (verdict === null) return <span class="muted">{noVerdict}</span>;
  const known = Object.entries(verdicts).find(([name]) => name === verdict);
  return known ? known[1] : <Ref>{verdict}</Ref>;
}

/** The tow a delivery is about: a link, unless no tow of ours has that reference yet. */
export function TowOf({ delivery }: { delivery: { readonly state: State; readonly towing_reference_id: string } }) {
  const ref = delivery.towing_reference_id;
  if (delivery.state !== 'processed') return <Ref>{ref}</Ref>;
  return (
    <a href={`/tows/${encodeURIComponent(ref)}`}>
      <Ref>{ref}</Ref>
    </a>
  );
}
