import type { ConservationView } from '../../../contracts/ops/conservation';
import { STANDINGS } from '../../../domain/vocabulary';
import { Ref } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { valueText } from './charts';

const ROWS = ['acknowledged', ...STANDINGS] as const;
const KINDS = ['deliveries', 'reports', 'violations'] as const;

/** The result of the conservation check: all acknowledged work by state. */
export function Conservation({ viewer, view }: { viewer: Viewer; view: ConservationView }) {
  const messages = viewer.messages.ops.conservation;
  const { formats } = viewer;
  return (
    <section class="card" id="conservation" aria-labelledby="conservation-title">
      <h2 id="conservation-title">{messages.title}</h2>
      {view.ended_at === null ? (
        <p class="muted">{messages.none}</p>
      ) : (
        <>
          <p class={view.lost > 0 ? 'lost bad' : 'lost'}>
            {messages.lost.rich({
              count: <strong>{formats.number(view.lost)}</strong>,
              of: <span class="muted">{messages.of({ count: formats.number(view.acknowledged) })}</span>,
            })}
          </p>
          <p class="muted">
            {messages.checked({
              ago: formats.duration(viewer.nowMs - Date.parse(view.ended_at)),
              took: valueText(viewer, 'ms', view.check_ms ?? 0),
            })}
          </p>
          <LostNames viewer={viewer} view={view} />
          <Standings viewer={viewer} view={view} />
        </>
      )}
    </section>
  );
}

function LostNames({ viewer, view }: { viewer: Viewer; view: ConservationView }) {
  const messages = viewer.messages.ops.conservation;
  if (view.lost === 0) return null;
  return (
    <>
      {view.repaired > 0 && <p>{messages.repaired({ count: view.repaired })}</p>}
      <h3>{messages.names}</h3>
      <Names names={view.lost_names} />
      {view.lost > view.lost_names.length && <p class="muted">{messages.more}</p>}
    </>
  );
}

function Names({ names }: { names: readonly string[] }) {
  return (
    <ul class="lost-names">
      {names.map((name) => (
        <li>
          <Ref>{name}</Ref>
        </li>
      ))}
    </ul>
  );
}

function Standings({ viewer, view }: { viewer: Viewer; view: ConservationView }) {
  const messages = viewer.messages.ops.conservation;
  const { formats } = viewer;
  return (
    <div class="scroll" role="group" tabindex={0} aria-label={messages.table}>
      <table class="standings">
        <caption class="visually-hidden">{messages.table}</caption>
        <thead>
          <tr>
            <th scope="col">{viewer.messages.terms.state}</th>
            {KINDS.map((kind) => (
              <th scope="col" class="number">
                {viewer.messages.ops.queues.names[kind]}
              </th>
            ))}
            <th scope="col" class="number">
              {viewer.messages.common.all}
            </th>
          </tr>
        </thead>
        <tbody>
          {ROWS.map((row) => (
            <tr class={row === 'lost' && view.lost > 0 ? 'bad' : undefined}>
              <th scope="row">{messages.standings[row]}</th>
              {KINDS.map((kind) => (
                <td class="number">{formats.number(view.by_kind[kind][row])}</td>
              ))}
              <td class="number">
                <strong>{formats.number(view[row])}</strong>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
