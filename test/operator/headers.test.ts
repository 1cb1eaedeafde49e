import { useApp } from '../support/app';
import { api } from './client';

const app = useApp({ role: 'console' });

test.each(['/api/tows', '/queues', '/openapi.json', '/nowhere'])(
  'sends no Strict-Transport-Security header with %s: other hosts of the domain may have no TLS',
  async (path) => {
    expect((await api(app).get(path)).headers).not.toHaveProperty('strict-transport-security');
  },
);
