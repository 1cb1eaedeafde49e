import { proveRedisKills } from './redis-kills';

proveRedisKills({ reads: true });
