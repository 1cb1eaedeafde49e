import { dirname } from 'node:path';
import type { Express } from 'express';
import { projectFolder } from '../platform/process';

/** Path → file of swagger-ui-dist. */
const ASSETS = {
  '/docs/swagger-ui.css': 'swagger-ui.css',
  '/docs/swagger-ui.js': 'swagger-ui-bundle.js',
  '/docs/icon.png': 'favicon-32x32.png',
} as const;

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>towhook: the operator API</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <link rel="icon" type="image/png" href="/docs/icon.png" />
  </head>
  <body>
    <div id="api"></div>
    <script src="/docs/swagger-ui.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/**
 * `persistAuthorization: false` forgets a key that was typed in. `validatorUrl: null` keeps the document from a public
 * validator.
 */
const START = `SwaggerUIBundle({
  url: new URL('../openapi.json', document.currentScript.src).href,
  dom_id: '#api',
  deepLinking: true,
  filter: true,
  persistAuthorization: false,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
});
`;

const MAX_AGE_MS = 3_600_000;

/**
 * Serves `/openapi.json` and `/docs`, a page to read and try the API. All assets are local. The document is the file that
 * `npm run generate` writes, because building it blocks the event loop for 100 ms.
 */
export function serveDocs(app: Express, project = projectFolder()): void {
  // With `root`, because Express does not send an absolute path that has a hidden folder, such as ~/.local/towhook.
  app.get('/openapi.json', (_request, response) => {
    response.sendFile('openapi.json', { root: project });
  });
  const folder = dirname(require.resolve('swagger-ui-dist/package.json'));
  app.get('/docs', (_request, response) => {
    response.type('html').send(PAGE);
  });
  app.get('/docs/start.js', (_request, response) => {
    response.type('js').send(START);
  });
  for (const [path, file] of Object.entries(ASSETS)) {
    app.get(path, (_request, response) => {
      response.sendFile(file, { root: folder, maxAge: MAX_AGE_MS });
    });
  }
}
