import type { Response } from 'supertest';
import { useApp } from '../support/app';
import { PNG } from '../support/images';
import { towPath } from './client';
import { clearDisk, formOf, imagesOnDisk, postForm, report, REQUIRED, violationIn, type FormOptions } from './forms';
import { newTow } from './world';

const app = useApp({ role: 'console', ownRedis: true });
beforeEach(() => clearDisk(app));

const FILE = { name: 'a.png', bytes: PNG };
const KEY: FormOptions = { idempotencyKey: 'a-key-of-the-client' };
type Send = () => Promise<Response>;

/** Each form with images, ready to be sent; what it needs is stored already. */
const FORMS: readonly [form: string, prepare: () => Promise<Send>][] = [
  ['a new violation', () => Promise.resolve(() => report(app, REQUIRED, [FILE], KEY))],
  [
    'photos of a tow',
    async () => {
      const path = towPath(await newTow(app), '/photos');
      return () => postForm(app, path, formOf({}, [FILE]), KEY);
    },
  ],
  [
    'other images of a violation',
    async () => {
      const { id } = violationIn(await report(app, REQUIRED, [FILE]));
      return () => postForm(app, `/api/violations/${id}/images`, formOf({}, [FILE]), KEY);
    },
  ],
];

describe.each<[refusal: string, setting: string, value: string, usual: string]>([
  // Far less than an empty Redis uses.
  ['has no memory left', 'maxmemory', '100kb', '0'],
  ['lacks its replicas', 'min-replicas-to-write', '1', '0'],
])('operator API: forms while Redis %s', (_refusal, setting, value, usual) => {
  afterEach(() => app.redis.ask('CONFIG', 'SET', setting, usual));

  it.each(FORMS)(
    'leaves no image of %s that cannot be stored, and stores it when sent again',
    async (_form, prepare) => {
      // Claims the disk in Redis, so that forms are read at all.
      await app.foundation.spool.state();
      const send = await prepare();
      const before = await imagesOnDisk(app);
      await app.redis.ask('CONFIG', 'SET', setting, value);

      for (let attempt = 0; attempt < 3; attempt += 1) {
        expect((await send()).status).toBe(503);
        expect(await imagesOnDisk(app)).toEqual(before);
      }

      await app.redis.ask('CONFIG', 'SET', setting, usual);
      expect((await send()).status).toBe(202);
      expect(await imagesOnDisk(app)).toHaveLength(before.length + 1);
    },
  );
});
