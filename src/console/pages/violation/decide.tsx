import { violationTaskId } from '../../../domain/ops/tasks';
import type { DecisionAction } from '../../../domain/outbox/decisions';
import { hasOffset } from '../../../domain/timestamp';
import { PERSON_FIELDS } from '../../../domain/violation/violation';
import { unchangedAsNow, Was, fieldTime } from '../../forms';
import { FoldedDecision, questionAbout } from '../../parts/decisions';
import { Folded, LiveForm, PostForm } from '../../parts/form';
import { ImageFields, UploadState } from '../../parts/image-fields';
import { Problem } from '../../parts/problem';
import { PLACE_FIELDS, VEHICLE_FIELDS, ViolationField, type FormField } from '../../parts/violation-fields';
import { isConcluded, type ViolationModel } from './model';
import { Card } from '../../parts/text';
import type { ViolationView } from '../../../contracts/violation/violations';

/** The name of the form that replaces the images. */
export const IMAGES_FORM = 'images';

/** Fields that may be corrected: all but the metadata. */
const CORRECTABLE = [...VEHICLE_FIELDS, ...PLACE_FIELDS, 'imagesDescription', ...PERSON_FIELDS] as const;
type Correctable = (typeof CORRECTABLE)[number];

/** What people are asked about it as it stands, by its task if there is one; null when nothing can be decided about it. */
export function questionOn(view: ViolationView): string | null {
  return questionAbout(
    view,
    view.tasks.filter(({ id }) => id === violationTaskId(view.id)),
  );
}

/** True if the images of a violation can be replaced. */
function takesImages({ decisions, api }: ViolationView): boolean {
  return decisions.includes('correct') && api === 'reference';
}

/** The names of the decision forms on the page. */
export function decisionForms(model: ViolationModel): readonly string[] {
  const { viewer, view } = model;
  if (isConcluded(model) || !viewer.may('dispatcher')) return [];
  return [...view.decisions, ...(takesImages(view) ? [IMAGES_FORM] : [])];
}

/** What people can decide now, each behind its name. */
export function Decide({ model }: { model: ViolationModel }) {
  const { viewer, view } = model;
  const { violations: messages } = viewer.messages;
  const { decisions } = view;
  return (
    <Card id="decide" title={messages.sections.decide}>
      <LiveForm model={model} id="decide-live" about={[decisions, questionOn(view)]}>
        {decisions.length === 0 && <p class="muted">{messages.inFlight}</p>}
        <div class="decisions">
          {decisions.map((decision) => (
            <Decision model={model} decision={decision} />
          ))}
          {takesImages(view) && <OtherImages model={model} />}
        </div>
        {decisions.length > 0 && !decisions.includes('correct') && <p class="muted">{messages.correctNot}</p>}
      </LiveForm>
    </Card>
  );
}

function Decision({ model, decision }: { model: ViolationModel; decision: DecisionAction }) {
  const { viewer, path, view } = model;
  const hint = decision === 'retry' && view.state === 'held' ? 'retryHeld' : decision;
  return (
    <FoldedDecision
      model={model}
      decision={decision}
      form={decision}
      address={`${path}/${decision}`}
      question={questionOn(view)}
      hint={viewer.messages.violations.hints[hint]}
      asksReference={decision === 'accept'}
      group="decide"
    >
      {decision === 'correct' && <CorrectionFields model={model} />}
    </FoldedDecision>
  );
}

/** A correction that replaces the images, for instance after `Image size exceeds limit`. */
function OtherImages({ model }: { model: ViolationModel }) {
  const { viewer, view, failure, path, imageSettings } = model;
  const { replaceImages: messages } = viewer.messages.violations;
  const shown = failure?.form === IMAGES_FORM ? failure : null;
  return (
    <Folded label={messages.label} isOpen={shown !== null} group="decide">
      <PostForm
        viewer={viewer}
        action={`${path}/images`}
        id="form-images"
        label={messages.label}
        question={questionOn(view)}
        hasFiles
      >
        <Problem viewer={viewer} failure={failure} form={IMAGES_FORM} />
        <p class="muted">{messages.hint}</p>
        <ImageFields viewer={viewer} form={IMAGES_FORM} images={imageSettings} failure={shown} isRequired />
        <UploadState viewer={viewer} form={IMAGES_FORM} />
        <p class="form-end">
          <button type="submit" class="main">
            {messages.label}
          </button>
        </p>
      </PostForm>
    </Folded>
  );
}

/** Every field that may be corrected, filled with what was entered; what is about people stands behind a fold of its own. */
function CorrectionFields({ model }: { model: ViolationModel }) {
  const { viewer, view } = model;
  const failure = unchangedAsNow(model.failure);
  const field = (name: Correctable) => (
    <>
      <Was name={name} value={enteredValue(view, name)} />
      <ViolationField
        viewer={viewer}
        form="correct"
        name={name}
        value={enteredValue(view, name)}
        failure={failure}
        {...(name === 'date' ? { type: 'datetime-local' as const } : {})}
      />
    </>
  );
  const isAbout = (names: readonly FormField[]) =>
    failure?.form === 'correct' && failure.refusal.details.some((each) => names.some((name) => name === each.field));
  return (
    <>
      <div class="fields">{[...VEHICLE_FIELDS, ...PLACE_FIELDS, 'imagesDescription' as const].map(field)}</div>
      <Folded label={viewer.messages.violations.sections.person} isOpen={isAbout(PERSON_FIELDS)}>
        <div class="fields">{PERSON_FIELDS.map(field)}</div>
      </Folded>
    </>
  );
}

/** What a field of the form holds, as the form of the correction takes it. */
function enteredValue({ form }: ViolationView, name: Correctable): string {
  const value = form[name];
  if (value === undefined) return '';
  if (name !== 'date') return String(value);
  const text = String(value);
  const ms = Date.parse(hasOffset(text) ? text : `${text}+03:00`);
  return Number.isNaN(ms) ? '' : fieldTime(ms);
}
