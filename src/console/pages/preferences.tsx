import express, { type Express } from 'express';
import { elsewhere, page } from '../answers';
import { PostForm } from '../parts/form';
import { ShortcutList } from '../parts/shortcut-sheet';
import { backOf, isFromHere } from '../requests';
import { send, type ServeTools } from '../serve';
import { cookieOf } from '../sessions';
import { LANGUAGE_COOKIE, oneOf, SHORTCUTS_COOKIE, THEME_COOKIE, THEMES, viewerOf } from '../viewer';
import { LANGUAGES } from '../words';

const YEAR_SECONDS = 365 * 86_400;
const parseForm = express.text({ type: 'application/x-www-form-urlencoded', limit: 10_000 });

/** Language, theme and shortcuts: of the browser, not of the key, and to be had before signing in. */
export function servePreferences(app: Express, tools: ServeTools): void {
  app.post('/preferences', ...tools.dress, parseForm, async (request, response) => {
    const visitor = await tools.sessions.visitorOf(request);
    const viewer = viewerOf(request, visitor, tools.clock);
    const body: unknown = request.body;
    const form = new URLSearchParams(typeof body === 'string' ? body : '');
    const chosen = [
      [LANGUAGE_COOKIE, oneOf(LANGUAGES, form.get('language') ?? undefined)],
      [THEME_COOKIE, oneOf(THEMES, form.get('theme') ?? undefined)],
      [SHORTCUTS_COOKIE, oneOf(['on', 'off'], form.get('shortcuts') ?? undefined)],
    ] as const;
    if (isFromHere(request)) {
      for (const [name, value] of chosen) {
        if (value !== null) response.append('set-cookie', cookieOf(request, name, value, YEAR_SECONDS));
      }
    }
    send({ request, response }, viewer, elsewhere(backOf(request)), tools);
  });

  app.get('/shortcuts', ...tools.dress, async (request, response) => {
    const visitor = await tools.sessions.visitorOf(request);
    const viewer = viewerOf(request, visitor, tools.clock);
    const { common } = viewer.words;
    const content = (
      <div class="narrow">
        <h1>{common.keys.title}</h1>
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
    send({ request, response }, viewer, page(common.keys.title, content), tools);
  });
}
