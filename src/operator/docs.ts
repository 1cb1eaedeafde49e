import { dirname } from 'node:path';
import type { Express } from 'express';
import { projectFolder } from '../platform/project-folder';

/**
 * `/openapi.json`, and `/docs`: the description of the API to read and to try out in a browser. Everything comes from this
 * listener, nothing from anywhere else.
 */

/** Our own address of each file, and the file of swagger-ui-dist behind it. */
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

/** A key that was typed in is forgotten with the page; the document is checked by nobody else. */
const START = `SwaggerUIBundle({
  url: '/openapi.json',
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
 * Serves the description, the page and its assets. The description is the file that `npm run generate` writes: to build it
 * takes 100 ms of the event loop.
 */
export function serveDocs(app: Express, project = projectFolder()): void {
  // Files are named below a root: Express does not send a path with a hidden folder in it, such as ~/.local/towhook.
  app.get('/openapi.json', (_request, response) => {
    response.sendFile('openapi.json', { root: project });
  });
  // The package itself is a program for browsers; only its files are wanted.
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
