import express from 'express';
import request from 'supertest';
import { serveDocs } from '../../src/operator/docs';
import { useApp } from '../support/app';
import { api } from './client';

const app = useApp({ role: 'console' });

it('builds the OpenAPI document once for any number of requests', async () => {
  let builds = 0;
  const docs = express();
  serveDocs(docs, () => {
    builds += 1;
    return { openapi: '3.1.0' };
  });
  const responses = await Promise.all(Array.from({ length: 20 }, () => request(docs).get('/openapi.json')));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(responses.map(({ text }) => text))).toEqual(new Set(['{"openapi":"3.1.0"}']));
  expect(builds).toBe(1);
});

it('sends the OpenAPI document with an ETag, and answers 304 without a body to a client that has it', async () => {
  const first = await api(app).get('/openapi.json').expect(200);
  const etag = first.get('etag') ?? '';
  expect(etag).not.toBe('');
  expect(first.type).toBe('application/json');
  const second = await api(app).get('/openapi.json').set('if-none-match', etag).expect(304);
  expect(second.text).toBe('');
  await api(app).get('/openapi.json').set('if-none-match', '"another"').expect(200, first.text);
});
