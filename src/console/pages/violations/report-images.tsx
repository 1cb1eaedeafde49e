import { IMAGES_TOTAL_BYTES_MAX } from '../../../contracts/service';
import type { Failure } from '../../answers';
import { ruleIn } from '../../parts/english';
import type { Viewer } from '../../viewer';
import { REPORT_FORM as FORM } from './fields';

/**
 * The images of a violation: chosen from the device, or taken with the camera of a phone. Where scripts run they are
 * gathered, shown and added up before they are sent (violation-images.js).
 */
export function Images({ viewer, failure }: { viewer: Viewer; failure: Failure | null }) {
  const { violationForm: words, common } = viewer.words;
  const rules = failure?.refusal.details.filter(({ field }) => /^images(\.|$)/.test(field)) ?? [];
  const [field, camera] = [`${FORM}-images`, `${FORM}-camera`];
  const described = [`${field}-hint`, ...(rules.length === 0 ? [] : [`${field}-error`])].join(' ');
  return (
    <div class="images-chosen" data-images={String(IMAGES_TOTAL_BYTES_MAX)}>
      {failure !== null && (
        <p class="stale" data-files-lost>
          {words.filesLost}
        </p>
      )}
      <div class="fields">
        <div class={rules.length === 0 ? 'field' : 'field wrong'}>
          <label for={field}>
            {words.fields.images} <span class="muted">({common.optional})</span>
          </label>
          <input
            type="file"
            id={field}
            name="images"
            accept="image/*"
            multiple
            aria-describedby={described}
            {...(rules.length === 0 ? {} : { 'aria-invalid': 'true' })}
          />
          <p class="hint" id={`${field}-hint`}>
            {words.hints.images}
          </p>
          {rules.length > 0 && (
            <p class="error" id={`${field}-error`}>
              {rules.map((each) => (
                <span>
                  <bdi>{each.field}</bdi> {ruleIn(viewer, each.rule)}{' '}
                </span>
              ))}
            </p>
          )}
        </div>
        <div class="field camera">
          <label for={camera}>
            {words.camera} <span class="muted">({common.optional})</span>
          </label>
          <input
            type="file"
            id={camera}
            name="images"
            accept="image/*"
            capture="environment"
            aria-describedby={`${camera}-hint`}
            data-camera
          />
          <p class="hint" id={`${camera}-hint`}>
            {words.hints.camera}
          </p>
        </div>
      </div>
      <ul class="photos" aria-label={words.chosen} data-previews data-remove={words.remove} hidden />
      <p class="muted" role="status" data-images-total={words.total} />
      <p class="error" role="alert" tabindex={-1} data-images-problem={words.tooLarge} />
    </div>
  );
}
