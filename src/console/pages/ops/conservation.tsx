import type { ConservationView } from '../../../contracts/conservation';
import { STANDINGS } from '../../../domain/vocabulary';
import { Ref } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { valueText } from './chart-values';

const ROWS = ['acknowledged', ...STANDINGS] as const;
const KINDS = ['deliveries', 'reports', 'violations'] as const;

/** Where everything stands that was acknowledged, and that nothing is lost. */
export function Conservation({ viewer, view }: { viewer: Viewer; view: ConservationView }) {
  const words = viewer.words.ops.conservation;
  const { formats } = viewer;
  return (
    <section class="card" id="conservation" aria-labelledby="conservation-title">
      <h2 id="conservation-title">{words.title}</h2>
      {view.ended_at === null ? (
        <p class="muted">{words.none}</p>
      ) : (
        <>
          <p class={view.lost > 0 ? 'lost bad' : 'lost'}>
            <strong>{formats.number(view.lost)}</strong> {words.lost}{' '}
            <span class="muted">{words.of(formats.number(view.acknowledged))}</span>
          </p>
          <p class="muted">
            {words.walked(
              formats.duration(viewer.nowMs - Date.parse(view.ended_at)),
              valueText(viewer, 'ms', view.walk_ms ?? 0),
            )}
          </p>
          <LostNames viewer={viewer} view={view} />
          <Standings viewer={viewer} view={view} />
        </>
      )}
    </section>
  );
}

function LostNames({ viewer, view }: { viewer: Viewer; view: ConservationView }) {
  const words = viewer.words.ops.conservation;
  if (view.lost === 0) return null;
  return (
    <>
      {view.repaired > 0 && <p>{words.repaired(view.repaired)}</p>}
      <h3>{words.names}</h3>
      <ul class="lost-names">
        {view.lost_names.map((name) => (
          <li>
            <Ref>{name}</Ref>
          </li>
        ))}
      </ul>
      {view.lost > view.lost_names.length && <p class="muted">{words.more}</p>}
    </>
  );
}

function Standings({ viewer, view }: { viewer: Viewer; view: ConservationView }) {
  const words = viewer.words.ops.conservation;
  const { formats } = viewer;
  return (
    <div class="scroll" role="group" tabindex={0} aria-label={words.table}>
      <table class="standings">
        <caption class="visually-hidden">{words.table}</caption>
        <thead>
          <tr>
            <th scope="col">{words.kind}</th>
            {KINDS.map((kind) => (
              <th scope="col" class="number">
                {words.kinds[kind]}
              </th>
            ))}
            <th scope="col" class="number">
              {words.all}
            </th>
          </tr>
        </thead>
        <tbody>
          {ROWS.map((row) => (
            <tr class={row === 'lost' && view.lost > 0 ? 'bad' : undefined}>
              <th scope="row">{words.standings[row]}</th>
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
