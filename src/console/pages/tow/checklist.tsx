import { Badge } from '../../parts/text';
import type { TowModel } from './model';

/** What stands between a vehicle and its owner. Shown while the vehicle is with us. */
export function Checklist({ model }: { model: TowModel }) {
  const { viewer, checklist, view } = model;
  const words = viewer.words.towFacts.checklist;
  if (view.state !== 'started' && view.state !== 'detained') return null;
  return (
    <section class="card" id="checklist" aria-labelledby="checklist-title">
      <h2 id="checklist-title">{words.title}</h2>
      <ul class="checklist">
        {checklist.map(({ item, met, needed }) => (
          <li>
            <span>{words.items[item]}</span>
            {met ? (
              <Badge tone="good">{words.met}</Badge>
            ) : (
              <Badge tone={needed ? 'bad' : 'quiet'}>{needed ? words.missing : words.notNeeded}</Badge>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
