import type { Task } from '../../../contracts/records';
import type { ViolationRecord } from '../../../contracts/violations';
import { violationContractTaskId, violationTaskId } from '../../../domain/violation-tasks';
import { questionOf } from '../../../workflow/bulk-call';
import { unchangedAsNow, Was } from '../../changes';
import { fieldMoment } from '../../entries';
import { Field, PostForm } from '../../parts/form';
import { Problem } from '../../parts/problem';
import { isGivenUp } from '../../parts/violation-state';
import { Folded } from '../tow/offer';
import { PERSON_FIELDS, PLACE_FIELDS, VEHICLE_FIELDS, ViolationField, type FormField } from './fields';
import type { ViolationModel } from './model';
import { Part } from './part';

/** What people may decide about a violation. */
export const DECISIONS = ['correct', 'retry', 'waive', 'accept'] as const;
export type Decision = (typeof DECISIONS)[number];

/** Fields that may be corrected: all but the metadata. */
const CORRECTABLE = [...VEHICLE_FIELDS, ...PLACE_FIELDS, 'imagesDescription', ...PERSON_FIELDS] as const;
type Correctable = (typeof CORRECTABLE)[number];

/** The decisions that would not be refused now (`decideViolation`), the likeliest first. */
export function decisionsOn(record: ViolationRecord): readonly Decision[] {
  const { state, inFlight, mayHaveHadEffect } = record;
  if (record.isAnswerQuestioned && !inFlight) return ['retry'];
  if (state === 'accepted' || state === 'waived' || state === 'sending' || inFlight) return [];
  const mayBeThere = state === 'unknown' || mayHaveHadEffect;
  const canCorrect = !mayBeThere || state === 'refused' || isGivenUp(record);
  return DECISIONS.filter((decision) => decision !== 'correct' || canCorrect);
}

/** What people are asked about it as it stands, by its task if there is one; null when nothing can be decided about it. */
export function questionOn(record: ViolationRecord, tasks: readonly Task[]): string | null {
  if (decisionsOn(record).length === 0) return null;
  const { id: violationId } = record.violation;
  const asking = [violationTaskId(violationId), violationContractTaskId(violationId)];
  const asked = tasks.filter(({ id }) => asking.includes(id));
  return [record.revision, record.state, ...asked.map(questionOf)].join(' ');
}

/** What people can decide now, each behind its name. */
export function Decide({ model }: { model: ViolationModel }) {
  const { viewer, failure, record, path } = model;
  const { violations: words } = viewer.words;
  const decisions = decisionsOn(record);
  const left = DECISIONS.filter((decision) => !decisions.includes(decision));
  return (
    <Part id="decide" title={words.sections.decide}>
      {/* The page is refreshed around forms that mean the same, and around those that are in use (tow.js). */}
      <div
        id="decide-offer"
        class="offer"
        data-offer={`${decisions.join('-')} ${questionOn(record, model.tasks) ?? ''}`}
      >
        <p class="stale" role="status" data-stale hidden>
          {words.changed} <a href={path}>{words.loadAgain}</a>
        </p>
        {/* One that was refused, because the answer came meanwhile, still says why. */}
        {left.map((decision) => (
          <Problem viewer={viewer} failure={failure} form={decision} />
        ))}
        {decisions.length === 0 && <p class="muted">{words.inFlight}</p>}
        <div class="decisions">
          {decisions.map((decision) => (
            <DecisionForm model={model} decision={decision} />
          ))}
        </div>
        {decisions.length > 0 && left.includes('correct') && !record.isAnswerQuestioned && (
          <p class="muted">{words.correctNot}</p>
        )}
      </div>
    </Part>
  );
}

function DecisionForm({ model, decision }: { model: ViolationModel; decision: Decision }) {
  const { viewer, failure, path, record } = model;
  const { words } = viewer;
  const label = words.terms.actions[decision];
  const hint = decision === 'retry' ? retryHintOf(record) : decision;
  return (
    <Folded label={label} isOpen={failure?.form === decision} group="decide">
      <PostForm
        viewer={viewer}
        action={`${path}/${decision}`}
        id={`form-${decision}`}
        label={label}
        question={questionOn(record, model.tasks)}
      >
        <Problem viewer={viewer} failure={failure} form={decision} />
        <p class="muted">{words.violations.hints[hint]}</p>
        {decision === 'correct' && <CorrectionFields model={model} />}
        {decision === 'accept' && (
          <Field
            viewer={viewer}
            form={decision}
            name="violation_reference_id"
            label={words.violations.referenceLabel}
            hint={words.violations.referenceHint}
            failure={failure}
            maxLength={200}
            autocomplete="off"
            isLatin
          />
        )}
        {(decision === 'waive' || decision === 'accept') && (
          <Field
            viewer={viewer}
            form={decision}
            name="reason"
            label={words.violations.reasonLabel}
            rows={2}
            isRequired
            failure={failure}
            maxLength={500}
          />
        )}
        <p class="form-end">
          <button type="submit" class={decision === 'waive' ? 'danger' : 'main'}>
            {label}
          </button>
        </p>
      </PostForm>
    </Folded>
  );
}

function retryHintOf({ state, isAnswerQuestioned }: ViolationRecord) {
  if (isAnswerQuestioned) return 'sendAgain';
  return state === 'held' ? 'retryHeld' : 'retry';
}

/** Every field that may be corrected, filled with what was entered; what is about people stands behind a fold of its own. */
function CorrectionFields({ model }: { model: ViolationModel }) {
  const { viewer, record } = model;
  const failure = unchangedAsNow(model.failure);
  const field = (name: Correctable) => (
    <>
      <Was name={name} value={enteredValue(record, name)} />
      <ViolationField
        viewer={viewer}
        form="correct"
        name={name}
        value={enteredValue(record, name)}
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
      <Folded label={viewer.words.violations.sections.person} isOpen={isAbout(PERSON_FIELDS)}>
        <div class="fields">{PERSON_FIELDS.map(field)}</div>
      </Folded>
    </>
  );
}

/** What a field of the form holds, as the form of the correction takes it. */
function enteredValue({ violation: { form } }: ViolationRecord, name: Correctable): string {
  const value = form[name];
  if (value === undefined) return '';
  if (name !== 'date') return String(value);
  const text = String(value);
  const hasOffset = /(Z|[+-]\d{2}:?\d{2})$/i.test(text);
  const ms = Date.parse(hasOffset ? text : `${text}+03:00`);
  return Number.isNaN(ms) ? '' : fieldMoment(ms);
}
