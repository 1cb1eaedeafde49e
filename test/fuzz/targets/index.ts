import type { FuzzTarget } from '../target';
import { answersTarget } from './answers';
import { apiTarget } from './api';
import { cookieTarget } from './cookie';
import { multipartTarget } from './multipart';
import { signatureTarget } from './signature';
import { webhookTarget } from './webhook';

export const TARGETS: readonly FuzzTarget[] = [
  webhookTarget,
  signatureTarget,
  apiTarget,
  multipartTarget,
  cookieTarget,
  answersTarget,
];
