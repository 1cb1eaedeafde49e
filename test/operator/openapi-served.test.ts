import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectFolder } from '../../src/platform/process';
import { useApp } from '../support/app';
import { api } from './client';

const app = useApp({ role: 'console' });

it('sends the OpenAPI document byte for byte as it was generated, so that no request builds it', async () => {
  const generated = await readFile(join(projectFolder(), 'openapi.json'), 'utf8');
  const responses = await Promise.all(Array.from({ length: 20 }, () => api(app).get('/openapi.json').expect(200)));
  // A document that is built for the request has no line breaks.
  expect(new Set(responses.map(({ text }) => text))).toEqual(new Set([generated]));
});

it('answers 304 without a body to a client that has the OpenAPI document', async () => {
  const first = await api(app).get('/openapi.json').expect(200);
  expect(first.type).toBe('application/json');
  const since = first.get('last-modified') ?? '';
  const second = await api(app).get('/openapi.json').set('if-modified-since', since).expect(304);
  expect(second.text).toBe('');
  await api(app).get('/openapi.json').set('if-modified-since', 'Thu, 01 Jan 1970 00:00:00 GMT').expect(200, first.text);
});
