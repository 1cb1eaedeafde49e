import { ACCEPT_DAMAGED_IMAGES } from '../../contracts/common';
import type { FormFailure, ImageSettings } from '../page';
import type { Viewer } from '../viewer';
import { fieldId } from './form';
import { fieldLabel } from './problem';
import { ruleIn } from './text';

/** Arguments that stay in the text, for the scripts of the page to fill in. */
const IMAGES = { count: '{count}', size: '{size}', most: '{most}' };
const SCALING = { done: '{done}', count: '{count}' };
const SCALED = { size: '{size}' };
const PROGRESS = { percent: '{percent}', sent: '{sent}', total: '{total}' };

interface ImageFieldsProps {
  readonly viewer: Viewer;
  /** The name of the form within its page. */
  readonly form: string;
  readonly images: ImageSettings;
  readonly failure: FormFailure | null;
  /** By default that of images of a violation. */
  readonly label?: string;
  /** The form is refused without an image. Either field may have it, so the browser checks neither. */
  readonly isRequired?: boolean;
}

/**
 * The images of a form: chosen from the device, or taken with the camera of a phone. Where scripts run they are
 * gathered, shown, added up and if necessary scaled down before they are sent (violation-images.js).
 */
export function ImageFields({ viewer, form, images, failure, label, isRequired = false }: ImageFieldsProps) {
  const { violationForm: messages, common } = viewer.messages;
  const rules = failure?.refusal.details.filter(({ field }) => /^images(\.|$)/.test(field)) ?? [];
  const [field, camera] = [`${form}-images`, `${form}-camera`];
  const described = [`${field}-hint`, ...(rules.length === 0 ? [] : [`${field}-error`])].join(' ');
  return (
    <div
      class="images-chosen"
      data-images={String(images.totalBytesMax)}
      {...(images.keepsOriginals ? {} : { 'data-images-scale': '' })}
    >
      {/* Where a refusal leads that names one of the images. */}
      {rules.map((each) => (each.field === 'images' ? null : <span id={fieldId(form, each.field)} />))}
      {failure !== null && (
        <p class="stale" data-files-lost>
          {messages.filesLost}
        </p>
      )}
      <div class="fields">
        <div class={rules.length === 0 ? 'field' : 'field wrong'}>
          <label for={field}>
            {label ?? messages.fields.images} {!isRequired && <span class="muted">({common.optional})</span>}
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
            {messages.imagesHint({ most: viewer.formats.bytes(images.totalBytesMax) })}
          </p>
          {rules.length > 0 && (
            <p class="error" id={`${field}-error`}>
              {rules.map((each) => (
                <span>
                  {each.field === 'images' ? null : `${fieldLabel(viewer, each.field, form) ?? each.field}: `}
                  {ruleIn(viewer, each.rule)}{' '}
                </span>
              ))}
            </p>
          )}
        </div>
        <div class="field camera">
          <label for={camera}>
            {messages.camera} <span class="muted">({common.optional})</span>
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
            {messages.hints.camera}
          </p>
        </div>
      </div>
      {rules.some(({ rule }) => rule.includes(ACCEPT_DAMAGED_IMAGES)) && (
        <p>
          <label>
            <input type="checkbox" name={ACCEPT_DAMAGED_IMAGES} value="true" /> {messages.acceptDamaged}
          </label>
        </p>
      )}
      <ul
        class="photos"
        aria-label={messages.chosen}
        data-previews
        data-remove={messages.remove}
        data-scaled={messages.scaled(SCALED)}
        hidden
      />
      <p class="muted" role="status" data-images-total={messages.total(IMAGES)} />
      <p class="muted" role="status" data-images-scaling={messages.scaling(SCALING)} />
      <p class="error" role="alert" tabindex={-1} data-images-problem={messages.tooLarge(IMAGES)} />
    </div>
  );
}

/** How long the answer to the form may take after the last byte of its upload. */
const ANSWER_MS = 30_000;

/** How far the upload has got, and how to stop it; shown by upload.js while the form is sent. */
export function UploadState({ viewer, form }: { viewer: Viewer; form: string }) {
  const { upload } = viewer.messages.violationForm;
  const progress = `${form}-progress`;
  return (
    <div
      class="upload"
      data-upload
      data-answer-ms={String(ANSWER_MS)}
      data-progress={upload.progress(PROGRESS)}
      data-sending={upload.sending}
      data-sent={upload.sent}
      data-aborted={upload.aborted}
      data-failed={upload.failed}
      data-refused={upload.refused}
      data-uncertain={upload.uncertain}
      data-too-slow={upload.tooSlow}
      data-signed-out={upload.signedOut}
      data-renewed={upload.renewed}
    >
      <div class="upload-bar" data-upload-bar hidden>
        <label for={progress}>{upload.label}</label>
        <progress id={progress} max={100} value={0} />
        <span class="upload-progress" data-upload-progress />
        <button type="button" data-upload-abort>
          {upload.abort}
        </button>
      </div>
      <p class="upload-notice" role="status" tabindex={-1} data-upload-notice />
    </div>
  );
}
