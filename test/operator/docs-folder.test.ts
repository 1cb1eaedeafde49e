import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import request from 'supertest';
import { serveDocs } from '../../src/operator/docs';

test('serves the API description from a program that lies in a hidden folder', async () => {
  const above = await mkdtemp(join(tmpdir(), 'towhook-'));
  try {
    const project = join(above, '.local', 'towhook');
    await mkdir(project, { recursive: true });
    await writeFile(join(project, 'openapi.json'), '{"openapi":"3.1.0"}');
    const app = express();
    serveDocs(app, project);

    const response = await request(app).get('/openapi.json');
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ openapi: '3.1.0' });
  } finally {
    await rm(above, { recursive: true });
  }
});
