import type { Viewer } from '../../viewer';

/** How far the form has got on its way, and how to stop it; shown by upload.js while it is sent. */
export function UploadState({ viewer }: { viewer: Viewer }) {
  const { upload } = viewer.words.violationForm;
  return (
    <div
      class="upload"
      data-upload
      data-progress={upload.progress}
      data-sending={upload.sending}
      data-sent={upload.sent}
      data-aborted={upload.aborted}
      data-failed={upload.failed}
      data-uncertain={upload.uncertain}
      data-signed-out={upload.signedOut}
      data-renewed={upload.renewed}
    >
      <div class="upload-bar" data-upload-bar hidden>
        <label for="report-progress">{upload.label}</label>
        <progress id="report-progress" max={100} value={0} />
        <span class="upload-words" data-upload-words />
        <button type="button" data-upload-abort>
          {upload.abort}
        </button>
      </div>
      <p class="upload-said" role="status" tabindex={-1} data-upload-said />
    </div>
  );
}
