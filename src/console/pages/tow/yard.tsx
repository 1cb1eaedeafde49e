import { isTerminal } from '../../../domain/tow';
import { Badge, Moment, Written } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { LocalCard, LocalField, LocalForm } from './local';
import type { TowModel } from './model';

/** Where the vehicle stands, once it is ours. */
export function Yard({ model }: { model: TowModel }) {
  const { viewer, view } = model;
  const words = viewer.words.towDispatch.yard;
  const { yard } = view.dispatch;
  const isOurs = view.state === 'started' || view.state === 'detained';
  if (yard === null && !isOurs) return null;
  return (
    <LocalCard id="yard" title={words.title}>
      {yard === null ? (
        <p class="muted">{words.none}</p>
      ) : (
        <p>
          <Written>{yard.yard}</Written>
          {yard.slot !== null && (
            <>
              {' · '}
              {words.slot} <Written>{yard.slot}</Written>
            </>
          )}{' '}
          <span class="muted">
            <By viewer={viewer} said={yard} />
          </span>
        </p>
      )}
      {viewer.may('crew') && isOurs && (
        <LocalForm
          model={model}
          name="yard"
          action="yard"
          label={yard === null ? words.set : words.move}
          about={[yard, view.state]}
        >
          <div class="fields">
            <LocalField model={model} form="yard" name="yard" label={words.yard} isRequired maxLength={100} />
            <LocalField model={model} form="yard" name="slot" label={words.slot} maxLength={100} />
          </div>
        </LocalForm>
      )}
    </LocalCard>
  );
}

/** What blocks payment and release. */
export function Holds({ model }: { model: TowModel }) {
  const { viewer, view } = model;
  const words = viewer.words.towDispatch.holds;
  const { holds } = view.dispatch;
  const isOver = isTerminal(view.state);
  if (isOver && holds.length === 0) return null;
  return (
    <LocalCard id="holds" title={words.title}>
      {holds.length === 0 && <p class="muted">{words.none}</p>}
      {holds.length > 0 && (
        <ul class="plain-list">
          {holds.map((hold) => (
            <li id={`hold-${hold.id}`}>
              <Badge tone={hold.lifted ? 'quiet' : 'bad'}>{hold.lifted ? words.lifted : words.open}</Badge>{' '}
              <Written>{hold.reason}</Written>{' '}
              <span class="muted">
                <By viewer={viewer} said={hold} />
              </span>
              {hold.lifted && (
                <p class="muted">
                  {words.lifted}: <Written>{hold.lifted.reason}</Written> · <By viewer={viewer} said={hold.lifted} />
                </p>
              )}
              {!hold.lifted && viewer.may('dispatcher') && (
                <LocalForm
                  model={model}
                  name={`lift-${hold.id}`}
                  action={`holds/${encodeURIComponent(hold.id)}/lift`}
                  label={words.lift}
                  about={hold}
                >
                  <LocalField
                    model={model}
                    form={`lift-${hold.id}`}
                    name="reason"
                    label={words.liftReason}
                    rows={2}
                    isRequired
                    maxLength={500}
                  />
                </LocalForm>
              )}
            </li>
          ))}
        </ul>
      )}
      {viewer.may('dispatcher') && !isOver && (
        <LocalForm model={model} name="hold" action="holds" label={words.place} about={isOver} isDanger>
          <LocalField
            model={model}
            form="hold"
            name="reason"
            label={words.reason}
            hint={words.hint}
            rows={2}
            isRequired
            maxLength={500}
          />
        </LocalForm>
      )}
    </LocalCard>
  );
}

/** When something was said, and by whom. */
export function By({ viewer, said }: { viewer: Viewer; said: { readonly at: string; readonly by: string } }) {
  return (
    <>
      <Moment viewer={viewer} at={said.at} /> · {viewer.words.common.by} <Written>{said.by}</Written>
    </>
  );
}
