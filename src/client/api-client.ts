import type { Client } from 'openapi-fetch';
import type { paths } from './paths';

/** The operator API, every call typed by the OpenAPI document. */
export type ApiClient = Client<paths>;
