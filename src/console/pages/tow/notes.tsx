import { Ref } from '../../parts/text';
import { LocalCard, LocalField, LocalForm } from './local';
import type { TowModel } from './model';
import { By } from './yard';

/** What people want each other to know. */
export function Notes({ model }: { model: TowModel }) {
  const { viewer, view } = model;
  const words = viewer.words.towDispatch.notes;
  const { notes } = view.dispatch;
  return (
    <LocalCard id="notes" title={words.title}>
      {notes.length === 0 && <p class="muted">{words.none}</p>}
      {notes.length > 0 && (
        <ul class="plain-list">
          {notes.toReversed().map((note) => (
            <li>
              <p class="note" dir="auto">
                {note.text}
              </p>
              <p class="muted">
                <By viewer={viewer} said={note} />
              </p>
            </li>
          ))}
        </ul>
      )}
      {viewer.may('crew') && (
        <LocalForm model={model} name="note" action="notes" label={words.add} about={null}>
          <LocalField model={model} form="note" name="text" label={words.text} rows={3} isRequired maxLength={2000} />
        </LocalForm>
      )}
    </LocalCard>
  );
}

/** Which of our violations the tow comes from, where it was not found by itself or wrongly. */
export function Link({ model }: { model: TowModel }) {
  const { viewer, view } = model;
  const words = viewer.words.towDispatch.link;
  if (!viewer.may('dispatcher')) return null;
  return (
    <LocalCard id="link" title={words.title}>
      <p>
        {view.violation_id === null ? (
          <span class="muted">{viewer.words.tow.noViolation}</span>
        ) : (
          <a href={`/violations/${encodeURIComponent(view.violation_id)}`}>
            <Ref>{view.violation_id}</Ref>
          </a>
        )}
      </p>
      <LocalForm model={model} name="link" action="violation" label={words.link} about={view.violation_id}>
        <LocalField
          model={model}
          form="link"
          name="violation_id"
          label={words.id}
          hint={words.hint}
          isRequired
          isLatin
          maxLength={200}
        />
      </LocalForm>
    </LocalCard>
  );
}
