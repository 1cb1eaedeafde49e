import { ageOf } from '../../../domain/overdue';
import { Badge, Plate, Ref, type Tone } from '../../parts/text';
import { WhyTow } from '../../parts/why';
import type { TowState } from '../../../domain/vocabulary';
import { About } from './about';
import type { TowModel } from './model';

/** Which tow it is, how it stands, and why it waits. */
export function TowHead({ model }: { model: TowModel }) {
  const { viewer, view, record, waiting } = model;
  const { words, formats } = viewer;
  const { ageMs } = ageOf(record.tow, record.readAtMs);
  return (
    <header class="tow-head" id="tow-head">
      <div class="head">
        <div class="row">
          <h1>
            <Ref>{view.towing_reference_id}</Ref>
          </h1>
          <Badge tone={TONES[view.state]}>{words.terms.towStates[view.state]}</Badge>
          <Marks model={model} />
        </div>
        <p class="row tow-ways">
          <span class="muted">
            {words.tow.inStateFor(words.terms.towStates[view.state])} {formats.duration(ageMs)}
          </span>
          <a href={`/api${model.path}`} class="button small">
            {words.tow.json}
          </a>
        </p>
      </div>
      <p class="tow-plate">
        {view.plate_number === null ? (
          <span class="muted">{words.tow.noPlate}</span>
        ) : (
          <Plate plate={view.plate_number} />
        )}
      </p>
      <p class={`why ${waiting.kind === 'decision' || waiting.kind === 'gate' ? 'bad' : ''}`} id="tow-why">
        <span class="visually-hidden">{words.why.label}: </span>
        <WhyTow viewer={viewer} waiting={waiting} state={view.state} />
      </p>
      <About model={model} />
    </header>
  );
}

const TONES: Readonly<Record<TowState, Tone>> = {
  requested: 'wait',
  started: 'busy',
  detained: 'busy',
  released: 'good',
  canceled: 'quiet',
};

function Marks({ model: { viewer, view, overdue } }: { model: TowModel }) {
  const words = viewer.words.tow;
  const holds = view.dispatch.holds.filter(({ lifted }) => lifted === null).length;
  return (
    <>
      {overdue.map(({ what, sinceMs }) => (
        <Badge tone="bad" title={viewer.formats.moment(new Date(sinceMs).toISOString())}>
          {words.overdue[what]}
        </Badge>
      ))}
      {holds > 0 && <Badge tone="bad">{words.onHold(holds)}</Badge>}
    </>
  );
}
