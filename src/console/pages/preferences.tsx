import type { Express } from 'express';
import { redirect, page } from '../page';
import { PostForm } from '../parts/form';
import { ShortcutList } from '../parts/navigation';
import { previousPage, isSameOrigin } from '../requests';
import { send, type ServeTools } from '../serve';
import { cookieOf } from '../sessions';
import { LANGUAGE_COOKIE, oneOf, SHORTCUTS_COOKIE, THEME_COOKIE, THEMES, viewerOf } from '../viewer';
import { LANGUAGES } from '../messages';

const YEAR_SECONDS = 365 * 86_400;
const FORM_BYTES_MAX = 10_000;

/** Language, theme and shortcuts are cookies of the browser and need no session. */
export function servePreferences(app: Express, tools: ServeTools): void {
  app.post('/preferences', ...tools.middleware, async (request, response) => {
    await tools.forms.read({ request, response }, FORM_BYTES_MAX);
    const visitor = await tools.sessions.visitorOf(request);
    const viewer = viewerOf(request, visitor, tools.clock);
    const body: unknown = request.body;
    const form = new URLSearchParams(typeof body === 'string' ? body : '');
    const chosen = [
      [LANGUAGE_COOKIE, oneOf(LANGUAGES, form.get('language') ?? undefined)],
      [THEME_COOKIE, oneOf(THEMES, form.get('theme') ?? undefined)],
      [SHORTCUTS_COOKIE, oneOf(['on', 'off'], form.get('shortcuts') ?? undefined)],
    ] as const;
    if (isSameOrigin(request)) {
      for (const [name, value] of chosen) {
        if (value !== null) response.append('set-cookie', cookieOf(request, name, value, YEAR_SECONDS));
      }
    }
    send({ request, response }, viewer, redirect(previousPage(request)), tools);
  });

  app.get('/shortcuts', ...tools.middleware, async (request, response) => {
    const visitor = await tools.sessions.visitorOf(request);
    const viewer = viewerOf(request, visitor, tools.clock);
    const { common } = viewer.messages;
    const content = (
      <div class="narrow">
        <h1>{common.shortcuts}</h1>
        <p class="muted">{common.keys.intro}</p>
        <ShortcutList viewer={viewer} />
        <PostForm viewer={viewer} action="/preferences" class="inline">
          <button name="shortcuts" value={viewer.hasShortcuts ? 'off' : 'on'}>
            {viewer.hasShortcuts ? common.shortcutsOff : common.shortcutsOn}
          </button>
        </PostForm>
        {visitor !== null && (
          <PostForm viewer={viewer} action="/sign-out-everywhere" class="inline">
            <button title={common.signOutEverywhereHint}>{common.signOutEverywhere}</button>
          </PostForm>
        )}
      </div>
    );
    send({ request, response }, viewer, page(common.shortcuts, content), tools);
  });
}
