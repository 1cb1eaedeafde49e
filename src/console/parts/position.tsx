import type { Viewer } from '../viewer';

/**
 * Fills in where the device is, into the fields of the `data-position` it stands in, and says how exactly, or that the
 * device does not tell. Only a script can (position.js), and only a script shows it.
 */
export function UsePosition({ viewer }: { viewer: Viewer }) {
  const { use, asking, found, denied } = viewer.words.common.position;
  return (
    <div class="position" data-locate-part hidden>
      <button type="button" data-locate data-asking={asking} data-found={found} data-denied={denied}>
        {use}
      </button>
      <p class="hint" role="status" data-locate-state />
    </div>
  );
}
